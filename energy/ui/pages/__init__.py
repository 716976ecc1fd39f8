"""The pages, one file each: Streamlit runs the file when its page is opened."""
