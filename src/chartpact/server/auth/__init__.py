"""Identity: accounts, the OAuth 2.1 authorization server, bearer tokens and web sessions."""
