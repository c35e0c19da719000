"""From an exception in compiled code to an error the author can act on."""
