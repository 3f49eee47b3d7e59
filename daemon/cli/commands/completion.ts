/** `completion`: scripts made from the commands themselves, so they cannot fall behind. */
import type { Command, Option } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

interface Known {
  /** Words after `forgeyard`, e.g. `run start`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly {
    readonly flag: string;
    readonly description: string;
    readonly choices: readonly string[];
    /** The word after it is no command. */
    readonly isValued: boolean;
    readonly isPath: boolean;
  }[];
  readonly takesFile: boolean;
  readonly takesRun: boolean;
  readonly choices: readonly string[];
}

export async function completion(terminal: Terminal, shell: string, root: Command): Promise<ExitCode> {
  const known = describe(root, []);
  terminal.out(shell === 'fish' ? fish(known) : shell === 'zsh' ? zsh(known) : bash(known));
  return exitCodes.ok;
}

function describe(command: Command, path: readonly string[]): readonly Known[] {
  const ancestors = [command, ...ancestorsOf(command)];
  const options = ancestors.flatMap((each) => each.options).filter((option) => !option.hidden);
  const [argument] = command.registeredArguments;
  const own: Known = {
    path: path.join(' '),
    subcommands: command.commands.map((child) => ({ name: child.name(), description: child.description() })),
    options: [
      ...options.flatMap((option) =>
        [option.short, option.long].flatMap((flag) => (flag ? [{ flag, ...knownOption(option) }] : [])),
      ),
      { flag: '--help', description: 'show help', choices: [], isValued: false, isPath: false },
    ],
    takesFile: argument?.name() === 'plan',
    takesRun: argument !== undefined && ['run', 'job', 'gate'].includes(argument.name()),
    choices: argument?.argChoices ?? [],
  };
  return [own, ...command.commands.flatMap((child) => describe(child, [...path, child.name()]))];
}

function knownOption({ description, argChoices = [], required, optional, flags }: Option) {
  return {
    description,
    choices: argChoices,
    isValued: required || optional,
    isPath: /<(store|path|file)>/.test(flags),
  };
}

/** Flags that take a value, each once; a flag means the same wherever it is known. */
function valuedOptions(all: readonly Known[]): readonly Known['options'][number][] {
  const options = all.flatMap((known) => known.options).filter((option) => option.isValued);
  return [...new Map(options.map((option) => [option.flag, option])).values()];
}

function ancestorsOf(command: Command): readonly Command[] {
  return command.parent === null ? [] : [command.parent, ...ancestorsOf(command.parent)];
}

const argumentWords = (known: Known): readonly string[] => [...known.choices, ...(known.takesRun ? ['@last'] : [])];

function bash(all: readonly Known[]): string {
  const cases = all.map((known) => {
    const words = [...known.subcommands.map((child) => child.name), ...argumentWords(known)];
    const files = known.takesFile ? ' files=1' : '';
    return `    '${known.path}') words='${words.join(' ')}' options='${known.options.map((option) => option.flag).join(' ')}'${files} ;;`;
  });
  const valued = valuedOptions(all);
  const values = valued
    .filter((option) => option.choices.length > 0 || option.isPath)
    .map(({ flag, choices, isPath }) => `    ${flag}) ${isPath ? 'files=1' : `words='${choices.join(' ')}'`} ;;`);
  return `# bash completion for forgeyard: source <(forgeyard completion bash)
_forgeyard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word words='' options='' files='' last=''
  local valued=' ${valued.map((option) => option.flag).join(' ')} '
  local -i at depth=0
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    # A flag and its value may be one word that the shell has cut at the sign.
    if [[ $word == '=' && -n $last ]]; then continue; fi
    if [[ -n $last ]]; then last=''; continue; fi
    case "$word" in
      -*) if [[ $valued == *" $word "* ]]; then last="$word"; fi; continue ;;
      */* | @*) depth=2 ;;
    esac
    if ((depth < 2)); then path="\${path:+$path }$word"; depth+=1; fi
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $last ]]; then
    case "$last" in
${values.join('\n')}
    esac
  else
    case "$path" in
${cases.join('\n')}
      *) return ;;
    esac
  fi
  if [[ $current == -* && -z $last ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -F _forgeyard forgeyard`;
}

function zsh(all: readonly Known[]): string {
  const cases = all.map((known) => {
    const children = known.subcommands.map((child) =>
      quoted(`${child.name}:${child.description.replaceAll(':', '\\:')}`),
    );
    const words = argumentWords(known).map(quoted);
    const options = known.options.map((option) =>
      quoted(`${option.flag}:${option.description.replaceAll(':', '\\:')}`),
    );
    return `    ${quoted(known.path)})
      children=(${children.join(' ')})
      words_here=(${words.join(' ')})
      options=(${options.join(' ')})
      files=${known.takesFile ? 1 : 0}
      ;;`;
  });
  return `#compdef forgeyard
# zsh completion for forgeyard: source <(forgeyard completion zsh)
_forgeyard() {
  local at_path='' word files=0 skip=0 valued=' ${valuedOptions(all)
    .map((option) => option.flag)
    .join(' ')} '
  local -a children words_here options
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    if (( skip )); then skip=0; continue; fi
    case "$word" in
      -*) if [[ "$valued" == *" $word "* ]]; then skip=1; fi; continue ;;
      */*|@*) break ;;
    esac
    at_path="\${at_path:+$at_path }$word"
    [[ "$at_path" == *' '* ]] && break
  done
  case "$at_path" in
${cases.join('\n')}
    *) return ;;
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'option' options
  elif (( files )); then
    _files
  else
    _describe 'command' children
    (( \${#words_here} )) && compadd -- "\${words_here[@]}"
  fi
}
if (( \${+functions[compdef]} )); then compdef _forgeyard forgeyard; fi`;
}

function fish(all: readonly Known[]): string {
  const lines = ['# fish completion for forgeyard: forgeyard completion fish | source', 'complete -c forgeyard -f'];
  for (const known of all) {
    const condition = fishCondition(known, all);
    for (const { name, description } of known.subcommands)
      lines.push(`complete -c forgeyard -n ${quoted(condition)} -a ${quoted(name)} -d ${quoted(description)}`);
    for (const word of argumentWords(known))
      lines.push(`complete -c forgeyard -n ${quoted(condition)} -a ${quoted(word)}`);
    if (known.takesFile) lines.push(`complete -c forgeyard -n ${quoted(condition)} -F`);
    for (const { flag, description } of known.options)
      lines.push(
        `complete -c forgeyard -n ${quoted(condition)} ${flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`} -d ${quoted(description)}`,
      );
  }
  return lines.join('\n');
}

function fishCondition({ path, subcommands }: Known, all: readonly Known[]): string {
  const [group, name] = path.split(' ');
  const others = (names: readonly { readonly name: string }[]): string => names.map((each) => each.name).join(' ');
  if (!group) return `not __fish_seen_subcommand_from ${others(all[0]?.subcommands ?? [])}`;
  if (name !== undefined) return `__fish_seen_subcommand_from ${group}; and __fish_seen_subcommand_from ${name}`;
  const own = `__fish_seen_subcommand_from ${group}`;
  return subcommands.length === 0 ? own : `${own}; and not __fish_seen_subcommand_from ${others(subcommands)}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
