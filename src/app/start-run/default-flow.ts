// The flow of a task that names none. A project changes it with a file of its own: .passrail/flows/quick.yaml.

export const DEFAULT_FLOW = "quick";
