package main

import "time"

// exportFlags limit the exports and statements that a process serves.
type exportFlags struct {
	Exports            int           `env:"CAUSEWAY_EXPORTS" default:"8" help:"Exports and statements that each process writes at the same time."`
	ExportsPerPlatform int           `name:"exports-per-platform" env:"CAUSEWAY_EXPORTS_PER_PLATFORM" default:"1" help:"Exports and statements that each process writes at the same time for one platform."`
	ExportTimeout      time.Duration `env:"CAUSEWAY_EXPORT_TIMEOUT" default:"30m" help:"Maximum duration of an export or statement, including its download."`
}

func (f exportFlags) checkExports(refuse func(setting, must string, got any)) {
	if f.Exports < 1 || f.Exports > 1000 {
		refuse("--exports (CAUSEWAY_EXPORTS)", "from 1 to 1000", f.Exports)
	}
	if f.ExportsPerPlatform < 1 || f.ExportsPerPlatform > 1000 {
		refuse("--exports-per-platform (CAUSEWAY_EXPORTS_PER_PLATFORM)", "from 1 to 1000", f.ExportsPerPlatform)
	}
	if f.ExportTimeout < time.Second || f.ExportTimeout > 24*time.Hour {
		refuse("--export-timeout (CAUSEWAY_EXPORT_TIMEOUT)", "from 1s to 24h", f.ExportTimeout)
	}
}
