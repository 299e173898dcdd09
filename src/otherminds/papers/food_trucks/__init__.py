"""Joint inference of beliefs and desires beside people's judgements (Baker, Jara-Ettinger, Saxe & Tenenbaum 2017)."""
