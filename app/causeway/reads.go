package main

import "time"

// readFlags limit the exports, statements, reports, lists and uploads that a process serves.
type readFlags struct {
	ReportTimeout      time.Duration `env:"CAUSEWAY_REPORT_TIMEOUT" default:"15s" help:"Maximum duration of one query of a list or report. One that would take longer gets 503 and what to narrow."`
	Exports            int           `env:"CAUSEWAY_EXPORTS" default:"8" help:"Exports and statements that each process writes at the same time."`
	ExportsPerPlatform int           `name:"exports-per-platform" env:"CAUSEWAY_EXPORTS_PER_PLATFORM" default:"1" help:"Exports and statements that each process writes at the same time for one platform."`
	Uploads            int           `env:"CAUSEWAY_UPLOADS" default:"32" help:"Documents that each process receives at the same time, three quarters of them from one platform. Further ones get 503. Each needs up to 10 MiB in the temporary folder."`
	ExportTimeout      time.Duration `env:"CAUSEWAY_EXPORT_TIMEOUT" default:"30m" help:"Maximum duration of an export or statement, including its download."`
}

func (f readFlags) checkReads(refuse func(setting, must string, got any)) {
	if f.ReportTimeout < 100*time.Millisecond || f.ReportTimeout > 5*time.Minute {
		refuse("--report-timeout (CAUSEWAY_REPORT_TIMEOUT)", "from 100ms to 5m", f.ReportTimeout)
	}
	if f.Exports < 1 || f.Exports > 1000 {
		refuse("--exports (CAUSEWAY_EXPORTS)", "from 1 to 1000", f.Exports)
	}
	if f.ExportsPerPlatform < 1 || f.ExportsPerPlatform > 1000 {
		refuse("--exports-per-platform (CAUSEWAY_EXPORTS_PER_PLATFORM)", "from 1 to 1000", f.ExportsPerPlatform)
	}
	if f.Uploads < 1 || f.Uploads > 1000 {
		refuse("--uploads (CAUSEWAY_UPLOADS)", "from 1 to 1000", f.Uploads)
	}
	if f.ExportTimeout < time.Second || f.ExportTimeout > 24*time.Hour {
		refuse("--export-timeout (CAUSEWAY_EXPORT_TIMEOUT)", "from 1s to 24h", f.ExportTimeout)
	}
}
