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
)

// Source is a text of heads and where it comes from.
type Source struct {
	Name string
	Text io.ReadCloser
}

// Open opens what was published: every *.heads file of a folder, one file, or what an
// http or https address answers. Close each.
func Open(ctx context.Context, where string) ([]Source, error) {
	if isURL(where) {
		return fetch(ctx, where)
	}
	names := []string{where}
	info, err := os.Stat(where)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(escapeGlob(where), "*.heads")); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("there are no heads in %s: no file ends in .heads", where)
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

// escapeGlob is a path in which nothing stands for something else.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func fetch(ctx context.Context, where string) ([]Source, error) {
	u, err := parseURL(where)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := newClient().Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, errors.New(u.Redacted() + " answered " + answer.Status)
	}
	return []Source{{u.Redacted(), answer.Body}}, nil
}
