package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows a progress bar on a terminal, and nothing elsewhere.
type progress struct {
	file *os.File // nil if it is not a terminal
	unit string
	bar  *progressbar.ProgressBar
}

func newProgress(out io.Writer, unit string) *progress {
	file, ok := out.(*os.File)
	if !ok {
		return &progress{}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{file: file, unit: unit}
}

// update shows that done of total units are finished.
func (p *progress) update(done, total int64) {
	if p.file == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.file), progressbar.OptionSetItsString(p.unit),
			progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(done) // display only
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
