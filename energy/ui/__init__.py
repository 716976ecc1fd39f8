"""The app: shell, widgets and pages. The only room that imports streamlit or plotly; docs/app.md has its contracts."""
