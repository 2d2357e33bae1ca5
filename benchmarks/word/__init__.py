"""Do answers keep their word? What is stated, judged by what is true."""
