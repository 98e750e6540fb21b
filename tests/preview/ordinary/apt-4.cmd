apt-get install -y ocaml-findlib sloccount tcl-dev
