package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"causeway/ports"
)

// NewPublisher makes the sink that a setting names: an http or https address, to which each
// head is posted, or a folder, with one file a platform. It makes the folder.
func NewPublisher(where string) (ports.CheckpointPublisher, error) {
	if isURL(where) {
		u, err := parseURL(where)
		if err != nil {
			return nil, err
		}
		return &httpPublisher{u, newClient()}, nil
	}
	if err := os.MkdirAll(where, 0o755); err != nil {
		return nil, err
	}
	return directoryPublisher(where), nil
}

func isURL(where string) bool { return strings.Contains(where, "://") }

func parseURL(where string) (*url.URL, error) {
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("it is neither a folder nor an http or https address")
	}
	return u, nil
}

// directoryPublisher keeps the heads of each platform in a file of its own, one note after the
// other with an empty line behind each.
type directoryPublisher string

// FileName is the name of a platform's file in a folder of heads.
func FileName(h ports.SignedCheckpoint) string { return h.Platform.UUID().String() + ".heads" }

// Publish appends, and returns when it is on the disk.
func (f directoryPublisher) Publish(_ context.Context, heads []ports.SignedCheckpoint) (err error) {
	if len(heads) == 0 {
		return nil
	}
	path := filepath.Join(string(f), FileName(heads[0]))
	_, known := os.Stat(path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// Somebody whose lease ran out may write too.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err := truncatePartialNote(file); err != nil {
		return err
	}
	var text strings.Builder
	for _, h := range heads {
		text.WriteString(h.Note + "\n")
	}
	if _, err := io.WriteString(file, text.String()); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if known == nil {
		return nil
	}
	return syncDir(string(f)) // a new file's name must last too
}

// truncatePartialNote takes away the part of a note that a crash left behind: its head was not
// noted as published, so it comes again.
func truncatePartialNote(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// A note is far smaller.
	size := info.Size()
	end := make([]byte, min(size, 4096))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return err
	}
	text := string(end)
	// A note that is whole ends in the line of a signature and an empty line.
	for cut := strings.LastIndex(text, "\n\n"); cut >= 0; cut = strings.LastIndex(text[:cut], "\n\n") {
		if lastLine := text[strings.LastIndexByte(text[:cut], '\n')+1 : cut]; strings.HasPrefix(lastLine, "— ") {
			if cut+2 == len(text) {
				return nil
			}
			return file.Truncate(size - int64(len(text)) + int64(cut) + 2)
		}
	}
	if size > int64(len(end)) {
		return fmt.Errorf("%s does not end in heads; move it away", file.Name())
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

// httpPublisher posts each head to an address.
type httpPublisher struct {
	url    *url.URL
	client *http.Client
}

// requestTimeout is how long an address may take for one request.
const requestTimeout = 10 * time.Second

// newClient follows no redirects: a head goes where the operator said.
func newClient() *http.Client {
	return &http.Client{Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Publish posts one after the other; any status 2xx accepts.
func (e *httpPublisher) Publish(ctx context.Context, heads []ports.SignedCheckpoint) error {
	for _, h := range heads {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), strings.NewReader(h.Note))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "text/plain; charset=utf-8")
		answer, err := e.client.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
		_ = answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			return fmt.Errorf("%s answered %s to the head of size %d", e.url.Redacted(), answer.Status, h.Size)
		}
	}
	return nil
}
