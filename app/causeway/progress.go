package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows on a terminal how far something has come, and elsewhere nothing.
type progress struct {
	file *os.File // nil: nobody looks
	unit string
	bar  *progressbar.ProgressBar
}

func newProgress(file *os.File, unit string) *progress {
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{file: file, unit: unit}
}

// update tells that so many of so many are done.
func (p *progress) update(done, of int64) {
	if p.file == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(of, progressbar.OptionSetWriter(p.file), progressbar.OptionSetItsString(p.unit),
			progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(done) // it is for looking at
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
