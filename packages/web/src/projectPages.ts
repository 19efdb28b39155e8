/** The pages of projects. Their file names are in a file of their own, which visitors' first pages do not contain. */
export const projectPages = {
  list: async () => (await import('./features/projects/ProjectsPage.tsx')).ProjectsPage,
  frame: async () => (await import('./features/projects/ProjectPage.tsx')).ProjectPage,
  tree: async () => (await import('./features/projectCode/tree/TreePage.tsx')).TreePage,
  blob: async () => (await import('./features/projectCode/blob/BlobPage.tsx')).BlobPage,
  commit: async () => (await import('./features/projectCode/commit/CommitPage.tsx')).CommitPage,
  commits: async () => (await import('./features/projectCode/commits/CommitsPage.tsx')).CommitsPage,
  instances: async () => (await import('./features/projects/instances/ProjectInstances.tsx')).ProjectInstances,
  containers: async () => (await import('./features/containers/ProjectContainers.tsx')).ProjectContainers,
  tasks: async () => (await import('./features/tasks/list/ProjectTasks.tsx')).ProjectTasks,
  task: async () => (await import('./features/tasks/detail/TaskPage.tsx')).TaskPage,
  taskLogs: async () => (await import('./features/tasks/logs/TaskLogPage.tsx')).TaskLogPage,
  newTask: async () => (await import('./features/tasks/CreateTaskPage.tsx')).CreateTaskPage,
  activity: async () => (await import('./features/projects/ProjectActivity.tsx')).ProjectActivity,
  settings: async () => (await import('./features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
};
