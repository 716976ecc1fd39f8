"""The app's entry: ``streamlit run app.py``, or ``energy app``."""

from energy.ui.shell import main

main()
