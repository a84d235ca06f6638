package console

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"causeway/app/exports"
	"causeway/core/csvcell"
)

// listFile is a page of a list as lines of a file.
type listFile struct {
	name   string
	header []string
	rows   [][]string
	// older is the address of the next page; empty if there is none.
	older string
}

// filePage is how many lines of a file are read at once.
const filePage = 500

// list returns a list that is a file too: that of all its pages, with the filter of the page, up to maxDownload lines.
func (c *Console) list(serve func(*request) error) func(*request) error {
	return func(r *request) error {
		query := r.URL.Query()
		if r.isList = true; query.Get("file") != "csv" {
			return serve(r)
		}
		query.Del("file")
		query.Del("after")
		page, err := pageOfFile(r.Context(), r, serve, query)
		if err != nil {
			return err
		}
		return download(r, exports.Document{Name: page.name + ".csv", ContentType: "text/csv; charset=utf-8",
			Write: func(ctx context.Context, out io.Writer) error {
				lines := csv.NewWriter(out)
				_ = lines.Write(page.header) // the writer keeps its error
				for n := 0; ; {
					if err := lines.WriteAll(page.rows); err != nil {
						return err
					}
					if n += len(page.rows); page.older == "" {
						return nil
					}
					if n >= maxDownload { // a file that ends in the middle would add up to something else
						return fmt.Errorf("the list has more than %d lines: choose a shorter time", maxDownload)
					}
					older, err := url.Parse(page.older)
					if err != nil {
						return err
					}
					if page, err = pageOfFile(ctx, r, serve, older.Query()); err != nil {
						return err
					}
				}
			}})
	}
}

// pageOfFile returns the lines of a page of a list.
func pageOfFile(ctx context.Context, r *request, serve func(*request) error, query url.Values) (listFile, error) {
	page := *r
	page.Request, page.lines = r.Clone(ctx), &listFile{}
	page.URL.RawQuery = query.Encode()
	err := serve(&page)
	return *page.lines, err
}

// fileLink returns the address of a list as a file.
func fileLink(r *request) string {
	query := r.URL.Query()
	query.Del("after")
	query.Set("file", "csv")
	return r.URL.Path + "?" + query.Encode()
}

// inFile returns the table of a view that is written as a file; nil if none is.
func (v view) inFile() *table {
	for _, s := range v.Sections {
		if s.Table != nil && s.Table.File != "" {
			return s.Table
		}
	}
	return nil
}

// take takes the lines of a view.
func (f *listFile) take(v view) error {
	t := v.inFile()
	if t == nil || len(v.Problems) > 0 {
		return &problem{http.StatusUnprocessableEntity, "The list cannot be made", strings.Join(v.Problems, " ")}
	}
	f.name, f.older = fileName(t.File), v.Older
	for _, column := range t.Columns {
		f.header = append(f.header, column.Name)
	}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for i, x := range row {
			line[i] = x.inFile()
		}
		f.rows = append(f.rows, line)
	}
	return nil
}

// inFile returns what a cell says: an id in full, and a time in UTC. Texts of others are no formulas; amounts may begin with a minus.
func (x cell) inFile() string {
	if x.Class == "time" {
		return rfc3339(x.At)
	}
	text := x.Text
	if x.Full != "" {
		text = x.Full
	}
	var all strings.Builder
	for _, piece := range pieces(text) {
		all.WriteString(piece.Text + rfc3339(piece.At))
	}
	all.WriteString(x.Actor)
	if x.Class == "amount" {
		return all.String()
	}
	return csvcell.Escape(all.String())
}

// fileName returns a name without characters that a file cannot have.
func fileName(text string) string {
	return strings.Map(func(letter rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.", letter) {
			return letter
		}
		return '-'
	}, text)
}
