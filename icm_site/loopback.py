"""Which addresses and names mean this machine; standard library only."""

import ipaddress

NAMES = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(address: str) -> bool:
    """Tell whether an address or the name of a host means this machine alone.

    Takes `::1` also in brackets. Any other name counts as foreign: what it means is
    for a name server to say, and not for us.
    """
    plain = address.removeprefix("[").removesuffix("]")
    if plain.lower() == "localhost":
        return True
    try:
        parsed = ipaddress.ip_address(plain)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)
