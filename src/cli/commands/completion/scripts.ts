// `completion SHELL`: a short script that asks `passrail complete` for the words that can come next. The script knows no command itself,
// so it stays right after an upgrade.

import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import type { Shell } from "./shells.ts";

export async function completion(io: Io, shell: Shell): Promise<number> {
  for (const line of SCRIPTS[shell].trim().split("\n")) io.out(line);
  return EXIT.ok;
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `
# Completion of passrail for bash. In ~/.bashrc:  source <(passrail completion bash)
_passrail() {
  local word line before="" words=() joins=0
  # Bash splits words at "=" and ":"; passrail gets them whole.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word == [=:]* || $joins == 1 ]] && (( \${#words[@]} > 0 )); then words[\${#words[@]}-1]+=$word
    else words+=("$word"); fi
    [[ $word == [=:] ]] && joins=1 || joins=0
  done
  local current="\${words[\${#words[@]}-1]}"
  [[ $current == *[=:]* ]] && before="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "\${current#"$before"}")) ;;
      :folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "\${current#"$before"}")) ;;
      *) word=\${line%%$'\\t'*}; COMPREPLY+=("\${word#"$before"}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _passrail passrail
`,
  zsh: `
#compdef passrail
# Completion of passrail for zsh. In ~/.zshrc, after compinit:  source <(passrail completion zsh)
_passrail() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      "") ;;
      :files) _files ;;
      :folders) _files -/ ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( \${#found} )) && _describe -V passrail found
}
compdef _passrail passrail
`,
  fish: `
# Completion of passrail for fish. In ~/.config/fish/config.fish:  passrail completion fish | source
function __passrail_complete
  set -l words (commandline -opc)
  for line in ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :folders
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c passrail -f -a '(__passrail_complete)'
`,
  powershell: `
# Completion of passrail for PowerShell. In $PROFILE:  passrail completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName passrail -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.ToString() })
  $flags = if ($wordToComplete -eq '') { @('--new-word') } else { @() }
  & passrail complete @flags '--' @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if ($word -eq ':files' -or $word -eq ':folders') { [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete) }
    else { [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($about) { $about } else { $word })) }
  }
}
`,
};
