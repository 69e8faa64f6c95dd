"""From a question to a few right answers: terms, fusion, gate, packing."""
