package ecb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Times between two looks at the source: after a good one, and after failures,
// twice as long each time.
const (
	loadInterval  = time.Hour
	minRetryDelay = time.Minute
)

// Load reads the source once. Whatever goes wrong, the last good rates stay; where
// there are none yet, those that an earlier process kept are taken up.
func (r *Rates) Load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	err := r.load(ctx)
	if err != nil && r.table.Load() == nil && r.cacheFile != "" {
		if kept := r.loadCached(); kept != nil {
			return fmt.Errorf("read %s: %w", r.source, errors.Join(err, kept))
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.source, err)
	}
	return nil
}

// Run looks at the source about every hour until ctx ends.
func (r *Rates) Run(ctx context.Context) {
	r.run(ctx, time.After)
}

func (r *Rates) run(ctx context.Context, after func(time.Duration) <-chan time.Time) {
	wait, retry := loadInterval, minRetryDelay
	if r.table.Load() == nil {
		wait = minRetryDelay
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-after(wait):
		}
		if err := r.Load(ctx); err == nil {
			wait, retry = loadInterval, minRetryDelay
		} else if ctx.Err() == nil {
			r.log.WithError(err).Warn("reference rates were not renewed; the last good ones stay")
			wait, retry = retry, min(2*retry, loadInterval)
		}
	}
}

func (r *Rates) load(ctx context.Context) error {
	text, err := r.source.read(ctx)
	if err != nil || text == nil {
		return err
	}
	sheet, err := Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if last := r.table.Load(); last != nil && sheet.Day.Before(last.daily.Day) {
		return fmt.Errorf("%w: it is of %s, older than that of %s", ErrInvalidFile, sheet.Day.Format(time.DateOnly), last.daily.Day.Format(time.DateOnly))
	}
	r.table.Store(&table{daily: sheet})
	r.source.accept()
	if r.cacheFile != "" {
		if err := writeFileAtomically(r.cacheFile, text); err != nil {
			r.log.WithError(err).Warn("reference rates cannot be kept for the next start")
		}
	}
	return nil
}

// loadCached goes on with the rates that an earlier process kept.
func (r *Rates) loadCached() error {
	text, err := fileSource(r.cacheFile).read(context.Background())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	sheet, err := Parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", r.cacheFile, err)
	}
	r.table.Store(&table{daily: sheet})
	return nil
}

// writeFileAtomically replaces a file whole or not at all.
func writeFileAtomically(name string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
