def test_the_package_tells_its_version():
    import chartpact

    assert chartpact.__version__ == "0.1.0"
