package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows on a terminal how far the books have come, and elsewhere nothing.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(file *os.File, entries int) progress {
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return progress{}
	}
	return progress{progressbar.NewOptions(entries, progressbar.OptionSetWriter(file), progressbar.OptionSetItsString("entries"),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

func (p progress) set(entries int) {
	if p.bar != nil {
		_ = p.bar.Set(entries) // it is for looking at
	}
}

func (p progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
