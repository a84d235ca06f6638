package ecb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// source is where the file comes from. read answers nil text when it is still what
// it was at the last accepted call.
type source interface {
	read(ctx context.Context) ([]byte, error)
	// accept says that what was read last was good.
	accept()
	String() string
}

func newSource(text string) (source, error) {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errors.New("must be the path of a file, or an address such as " + PublishedURL)
		}
		return &httpSource{url: u, client: &http.Client{Timeout: 15 * time.Second, CheckRedirect: checkRedirect}}, nil
	}
	if text == "" {
		return nil, errors.New("must not be empty; the bank publishes at " + PublishedURL)
	}
	return fileSource(text), nil
}

// fileSource is a file that somebody else renews.
type fileSource string

func (p fileSource) read(context.Context) ([]byte, error) {
	file, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readLimited(file)
}

func (fileSource) accept() {}

func (p fileSource) String() string { return string(p) }

// httpSource is the file on a server. What is unchanged there is not sent again.
type httpSource struct {
	url    *url.URL
	client *http.Client

	accepted, latest validators
}

// validators are what a server knows a version of the file by.
type validators struct{ etag, lastModified string }

func (a *httpSource) read(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "causeway")
	request.Header.Set("Accept", "application/xml, text/xml")
	if a.accepted.etag != "" {
		request.Header.Set("If-None-Match", a.accepted.etag)
	}
	if a.accepted.lastModified != "" {
		request.Header.Set("If-Modified-Since", a.accepted.lastModified)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	conditional := a.accepted != validators{}
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		return nil, nil
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", a, response.Status)
	}
	a.latest = validators{response.Header.Get("ETag"), response.Header.Get("Last-Modified")}
	return readLimited(response.Body)
}

func (a *httpSource) accept() { a.accepted = a.latest }

func (a *httpSource) String() string { return a.url.Redacted() }

// checkRedirect follows a few redirects, but none that gives encryption up.
func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) >= 5 {
		return errors.New("too many redirects")
	}
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("a redirect leaves https")
	}
	return nil
}

// readLimited reads a file of sensible size.
func readLimited(in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	n, err := text.ReadFrom(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if n > maxBytes {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrInvalidFile, maxBytes)
	}
	return text.Bytes(), nil
}
