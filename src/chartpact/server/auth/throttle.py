"""How often one may try: sign-ins, consent, tokens, registrations, by account and address."""

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

from chartpact.server.allowance import Allowance, Ledger, LoanMeter


@dataclass(frozen=True)
class Rates:
    """Tries a minute; a full minute's worth may come at once."""

    sign_in_by_address: float = 20
    sign_in_by_account: float = 10
    authorize_by_address: float = 120
    authorize_by_account: float = 30
    document_by_address: float = 10  # of clients, fetched because they are not in the cache
    document_by_account: float = 10
    token_by_address: float = 120
    token_by_account: float = 60  # of one code or refresh token's client
    register_by_address: float = 10
    sign_up_by_address: float = 3


class Throttle:
    """Counts tries in the bucket of the address, and in that of the account."""

    def __init__(
        self,
        rates: Rates,
        clock: Callable[[], float] = time.monotonic,
        ledger: Ledger | None = None,
    ) -> None:
        kinds = {
            "sign_in": "sign-ins",
            "authorize": "requests for consent",
            "document": "metadata documents of clients",
            "token": "requests for tokens",
            "register": "registrations",
            "sign_up": "new accounts",
        }
        self._by_address, self._by_account = (
            {
                kind: LoanMeter(
                    Allowance(words, getattr(rates, f"{kind}_by_{whom}"), clock),
                    ledger,
                    f"{kind} by {whom}",
                )
                for kind, words in kinds.items()
                if hasattr(rates, f"{kind}_by_{whom}")
            }
            for whom in ("address", "account")
        )

    async def spend(self, kind: str, address: str | None, account: str | None = None) -> None:
        """Counts a try; raises TooMuch. An account is counted whether it exists or not."""
        await self._by_address[kind].spend(network_of(address))
        if account is not None:
            await self.spend_by_account(kind, account)

    async def spend_by_account(self, kind: str, account: str) -> None:
        """Counts a try by account, where it was counted by address before."""
        await self._by_account[kind].spend(account[:255])


def network_of(address: str | None) -> str:
    """The network that counts as one address: an IPv4 address, or the /64 of an IPv6 host."""
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        return address or ""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((ip, 64), strict=False))
    return str(ip)
