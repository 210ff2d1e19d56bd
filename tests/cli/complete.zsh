# What zsh makes of each line when Tab is pressed after it: complete.zsh SCRIPT FOLDER LINE…
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= RPROMPT= ; unsetopt prompt_sp; cd $2; source $1"
zpty -w shell 'show() { zle -I; print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show; bindkey "^X" show; print -r -- RE''ADY'
zpty -r shell text '*READY*'
shift 2
for line; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r shell text '*<<*>>*'
  text=${text##*<<}
  print -r -- ${text%%>>*}
done
zpty -d shell
