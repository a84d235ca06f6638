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
	writing   chan struct{} // holds an element while a write has not returned
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
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	select {
	case f.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("an earlier write to %s has not returned: %w", f.directory, ctx.Err())
	}
	written := make(chan error, 1)
	go func() {
		defer func() {
			<-f.writing
			if p := recover(); p != nil {
				written <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		written <- f.write(ctx, list)
	}()
	select {
	case err := <-written:
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

// truncatePartialNote removes a partial note that a crash left at the end of the file. Its
// checkpoint was not marked as published, so it is published again.
func truncatePartialNote(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// A note is much shorter than this.
	size := info.Size()
	end := make([]byte, min(size, 4096))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return err
	}
	text := string(end)
	// A complete note ends with a signature line and an empty line.
	for cut := strings.LastIndex(text, "\n\n"); cut >= 0; cut = strings.LastIndex(text[:cut], "\n\n") {
		if lastLine := text[strings.LastIndexByte(text[:cut], '\n')+1 : cut]; strings.HasPrefix(lastLine, "— ") {
			if cut+2 == len(text) {
				return nil
			}
			return file.Truncate(size - int64(len(text)) + int64(cut) + 2)
		}
	}
	if size > int64(len(end)) {
		return fmt.Errorf("%s does not end with a checkpoint; move it away", file.Name())
	}
	return file.Truncate(0)
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
