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
			return nil, errors.New("must be the path of a file, or an address such as " + Published)
		}
		return &address{url: u, client: &http.Client{Timeout: 15 * time.Second, CheckRedirect: noWeaker}}, nil
	}
	if text == "" {
		return nil, errors.New("must not be empty; the bank publishes at " + Published)
	}
	return path(text), nil
}

// path is a file that somebody else renews.
type path string

func (p path) read(context.Context) ([]byte, error) {
	file, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}

func (path) accept() {}

func (p path) String() string { return string(p) }

// address is the file on a server. What is unchanged there is not sent again.
type address struct {
	url    *url.URL
	client *http.Client

	good, seen validators
}

// validators are what a server knows a version of the file by.
type validators struct{ tag, modified string }

func (a *address) read(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "causeway")
	request.Header.Set("Accept", "application/xml, text/xml")
	if a.good.tag != "" {
		request.Header.Set("If-None-Match", a.good.tag)
	}
	if a.good.modified != "" {
		request.Header.Set("If-Modified-Since", a.good.modified)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	conditional := a.good != validators{}
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		return nil, nil
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", a, response.Status)
	}
	a.seen = validators{response.Header.Get("ETag"), response.Header.Get("Last-Modified")}
	return readAll(response.Body)
}

func (a *address) accept() { a.good = a.seen }

func (a *address) String() string { return a.url.Redacted() }

// noWeaker follows a few redirects, but none that gives encryption up.
func noWeaker(next *http.Request, before []*http.Request) error {
	if len(before) >= 5 {
		return errors.New("too many redirects")
	}
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("a redirect leaves https")
	}
	return nil
}

// readAll reads a file of sensible size.
func readAll(in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	n, err := text.ReadFrom(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if n > maxBytes {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrSheet, maxBytes)
	}
	return text.Bytes(), nil
}
