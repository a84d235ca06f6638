package ecb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// loadInterval is the time between loads. After a failure the source is retried after
// minRetryDelay, which doubles with each failure.
const (
	loadInterval  = time.Hour
	minRetryDelay = time.Minute
)

// Load reads the source once. On an error the previous rates stay in use; if there are none, Load
// reads the cache file.
func (r *Rates) Load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	err := r.load(ctx)
	if err != nil && r.table.Load() == nil && r.cacheFile != "" {
		if cacheErr := r.loadCached(); cacheErr != nil {
			return fmt.Errorf("read %s: %w", r.source, errors.Join(err, cacheErr))
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.source, err)
	}
	return nil
}

// Run loads the source about every hour until ctx ends.
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
			r.log.WithError(err).Warn("cannot load reference rates; keeping the previous ones")
			wait, retry = retry, min(2*retry, loadInterval)
		}
	}
}

func (r *Rates) load(ctx context.Context) (err error) {
	defer func() { // the file is from outside, and Run must go on
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	text, err := r.source.read(ctx)
	if err != nil || text == nil {
		return err
	}
	daily, err := Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if previous := r.table.Load(); previous != nil && daily.Day.Before(previous.daily.Day) {
		return fmt.Errorf("%w: dated %s, older than the loaded file of %s", ErrInvalidFile, daily.Day.Format(time.DateOnly),
			previous.daily.Day.Format(time.DateOnly))
	}
	r.table.Store(&table{daily: daily})
	r.source.accept()
	if r.cacheFile != "" {
		if err := writeFileAtomically(r.cacheFile, text); err != nil {
			r.log.WithError(err).Warn("cannot save the reference rates to the cache file")
		}
	}
	return nil
}

// loadCached loads the rates that an earlier process saved.
func (r *Rates) loadCached() error {
	text, err := fileSource(r.cacheFile).read(context.Background())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	daily, err := Parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", r.cacheFile, err)
	}
	r.table.Store(&table{daily: daily})
	return nil
}

// writeFileAtomically replaces a file atomically.
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
