package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"causeway/ledger"
)

// Source is a text of checkpoints and where it is from.
type Source struct {
	Name string
	Text io.ReadCloser
}

// Open opens published checkpoints: every *.checkpoints and *.evidence file of a folder, one file, or the
// response of an http or https URL. The caller closes each.
func Open(ctx context.Context, location string) ([]Source, error) {
	if isURL(location) {
		return fetch(ctx, location)
	}
	names := []string{location}
	info, err := os.Stat(location)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		names = nil
		for _, extension := range fileExtensions {
			found, err := filepath.Glob(filepath.Join(escapeGlob(location), "*"+extension))
			if err != nil {
				return nil, err
			}
			names = append(names, found...)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("there are no checkpoints in %s: no file ends in %s", location, fileExtensions[ledger.PostingLog])
		}
		slices.Sort(names)
	}
	var sources []Source
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			for _, s := range sources {
				_ = s.Text.Close()
			}
			return nil, err
		}
		sources = append(sources, Source{name, file})
	}
	return sources, nil
}

// escapeGlob escapes the special characters of a glob pattern in a path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// fetchTimeout is the maximum duration of reading published checkpoints from a URL.
const fetchTimeout = time.Minute

func fetch(ctx context.Context, location string) ([]Source, error) {
	u, err := parseURL(location)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := newClient(fetchTimeout).Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, errors.New(u.Redacted() + " responded " + response.Status)
	}
	return []Source{{u.Redacted(), response.Body}}, nil
}
