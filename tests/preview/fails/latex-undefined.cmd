pdflatex -interaction=nonstopmode report.tex
