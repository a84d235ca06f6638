package checkpoints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// NewPublisher returns the publisher for a location: an http or https URL, to which each
// checkpoint is posted, or a folder with one file for each platform, which it creates. timeout, 10
// seconds if zero, bounds each request, and each write to a folder, whose disk may not respond.
func NewPublisher(location string, timeout time.Duration) (ports.CheckpointPublisher, error) {
	timeout = cmp.Or(timeout, 10*time.Second)
	if isURL(location) {
		u, err := parseURL(location)
		if err != nil {
			return nil, err
		}
		return &httpPublisher{u, newClient(timeout)}, nil
	}
	if err := os.MkdirAll(location, 0o755); err != nil {
		return nil, err
	}
	return &directoryPublisher{location, timeout, make(chan struct{}, 1)}, nil
}

// PlaceOf says what a location is, without what may be secret: scheme and host of a URL, and of a folder only that it is one.
func PlaceOf(location string) string {
	if !isURL(location) {
		return "a folder"
	}
	u, err := parseURL(location)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func isURL(location string) bool { return strings.Contains(location, "://") }

func parseURL(location string) (*url.URL, error) {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be a folder or an http or https URL")
	}
	return u, nil
}

// directoryPublisher appends the checkpoints of each platform to a file: signed notes, each
// followed by an empty line.
type directoryPublisher struct {
	directory string
	timeout   time.Duration
	using     chan struct{} // holds an element while a use of the folder has not returned
}

// fileExtensions are the extensions of the files of checkpoints. Those of the log of evidence have one of their own,
// so that the programs that know the log of postings alone read on what they know.
var fileExtensions = [...]string{ledger.PostingLog: ".checkpoints", ledger.EvidenceLog: ".evidence"}

// FileName returns the name of the file of a checkpoint's platform and log in a folder.
func FileName(c ports.SignedCheckpoint) string {
	return c.Platform.UUID().String() + fileExtensions[c.Log]
}

// Publish appends the checkpoints and returns when they are on disk.
func (f *directoryPublisher) Publish(ctx context.Context, list []ports.SignedCheckpoint) error {
	if len(list) == 0 {
		return nil
	}
	return f.inTime(ctx, func(ctx context.Context) error { return f.write(ctx, list) })
}

// inTime runs what uses the folder, and returns after the timeout also if its disk does not respond. One at a time runs.
func (f *directoryPublisher) inTime(ctx context.Context, use func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	select {
	case f.using <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("an earlier use of %s has not returned: %w", f.directory, ctx.Err())
	}
	used := make(chan error, 1)
	go func() {
		defer func() {
			<-f.using
			if p := recover(); p != nil {
				used <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		used <- use(ctx)
	}()
	select {
	case err := <-used:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s does not respond: %w", f.directory, ctx.Err())
	}
}

func (f *directoryPublisher) write(ctx context.Context, list []ports.SignedCheckpoint) (err error) {
	path := filepath.Join(f.directory, FileName(list[0]))
	_, statErr := os.Stat(path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// A process whose lease has expired may be writing too.
	if err := lock(ctx, file); err != nil {
		return err
	}
	if err := truncatePartialNote(file); err != nil {
		return err
	}
	var text strings.Builder
	for _, c := range list {
		text.WriteString(c.Note + "\n")
	}
	if _, err := io.WriteString(file, text.String()); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if statErr == nil {
		return nil
	}
	return syncDir(f.directory) // for the name of the new file
}

// lockInterval is the time between two attempts to lock a file.
const lockInterval = 50 * time.Millisecond

// lock locks a file until it is closed.
func lock(ctx context.Context, file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is locked by another process: %w", file.Name(), ctx.Err())
		case <-time.After(lockInterval):
		}
	}
}

// maxEnd is how much is read of the end of a file. A note is much shorter.
const maxEnd = 4096

// readEnd returns the end of a file, and the size of the file.
func readEnd(file *os.File) (end string, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	text := make([]byte, min(info.Size(), maxEnd))
	_, err = file.ReadAt(text, info.Size()-int64(len(text)))
	return string(text), info.Size(), err
}

// endOfLastNote returns the position after the last complete note of a text, which ends with a signature line and an empty line; -1
// if there is none.
func endOfLastNote(text string) int {
	for cut := strings.LastIndex(text, "\n\n"); cut >= 0; cut = strings.LastIndex(text[:cut], "\n\n") {
		if lastLine := text[strings.LastIndexByte(text[:cut], '\n')+1 : cut]; strings.HasPrefix(lastLine, "— ") {
			return cut + 2
		}
	}
	return -1
}

// truncatePartialNote removes a partial note that a crash left at the end of the file. Its
// checkpoint was not marked as published, so it is published again.
func truncatePartialNote(file *os.File) error {
	text, size, err := readEnd(file)
	if err != nil {
		return err
	}
	switch end := endOfLastNote(text); {
	case end == len(text) && end > 0:
		return nil
	case end > 0:
		return file.Truncate(size - int64(len(text)) + int64(end))
	case size > int64(len(text)):
		return fmt.Errorf("%s does not end with a checkpoint; move it away", file.Name())
	}
	return file.Truncate(0)
}

// Newest returns the last complete note of each file.
func (f *directoryPublisher) Newest(ctx context.Context) ([]string, error) {
	var notes []string
	if err := f.inTime(ctx, func(context.Context) (err error) {
		notes, err = f.readNewest()
		return err
	}); err != nil {
		return nil, err // it may still be reading
	}
	return notes, nil
}

func (f *directoryPublisher) readNewest() (notes []string, err error) {
	for _, extension := range fileExtensions {
		names, err := filepath.Glob(filepath.Join(escapeGlob(f.directory), "*"+extension))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := lastPart(name)
			if err != nil {
				return nil, err
			}
			if end := endOfLastNote(text); end > 0 {
				notes = append(notes, text[max(endOfLastNote(text[:end-2]), 0):end])
			}
		}
	}
	return notes, nil
}

func lastPart(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	text, _, err := readEnd(file)
	return text, errors.Join(err, file.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// httpPublisher posts each checkpoint to a URL.
type httpPublisher struct {
	url    *url.URL
	client *http.Client
}

// Newest returns none: the receiver need not offer what it got.
func (e *httpPublisher) Newest(context.Context) ([]string, error) { return nil, nil }

// newClient returns a client that follows no redirects: checkpoints go only to the configured URL.
// timeout bounds a request from connecting to the end of the response.
func newClient(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Publish posts one checkpoint after the other. Any 2xx status is success.
func (e *httpPublisher) Publish(ctx context.Context, list []ports.SignedCheckpoint) error {
	for _, c := range list {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), strings.NewReader(c.Note))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "text/plain; charset=utf-8")
		response, err := e.client.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be reused
		_ = response.Body.Close()
		if response.StatusCode/100 != 2 {
			return fmt.Errorf("%s responded %s to the checkpoint of size %d", e.url.Redacted(), response.Status, c.Size)
		}
	}
	return nil
}
