"""The first list of indicators after a start costs no more than the next."""

from chartpact import catalogue


def test_what_is_shipped_is_compiled_before_the_first_call(request):
    catalogue.pact.cache_clear()
    catalogue.scripted.cache_clear()
    request.getfixturevalue("here")
    assert catalogue.pact.cache_info().currsize == 11
    assert catalogue.scripted.cache_info().currsize == 20
