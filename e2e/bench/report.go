package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// section is one table of the report, with what a reader must know to read it.
type section struct {
	title   string
	prose   []string // paragraphs
	columns []string
	rows    [][]string
	code    string // shown as it is
}

// writeTerminal writes the results to a terminal.
func (r results) writeTerminal(to io.Writer) error {
	table := tabwriter.NewWriter(to, 0, 8, 3, ' ', 0)
	for _, s := range r.sections() {
		fmt.Fprintf(table, "\n%s\n", strings.ToUpper(s.title))
		for _, row := range append([][]string{s.columns}, s.rows...) {
			if len(row) > 0 {
				fmt.Fprintln(table, "  "+stripMarkdown(strings.Join(row, "\t")))
			}
		}
		for line := range strings.Lines(s.code) {
			fmt.Fprintln(table, "  "+strings.TrimRight(line, "\n"))
		}
	}
	return table.Flush()
}

// stripMarkdown takes the marks of Markdown away.
func stripMarkdown(text string) string { return strings.NewReplacer("**", "", "`", "").Replace(text) }

// writeFile writes the results to a Markdown file.
func (r results) writeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	logf("wrote %s", path)
	return nil
}

// markdown is the whole report.
func (r results) markdown() string {
	var text strings.Builder
	text.WriteString("# What it does on one small machine\n\n" +
		"Written by `make bench`; every figure is of one run, on the date and the machine below. " +
		"Postgres, the service and the load generator share the processors.\n")
	for _, s := range r.sections() {
		fmt.Fprintf(&text, "\n## %s\n", s.title)
		for _, paragraph := range s.prose {
			fmt.Fprintf(&text, "\n%s\n", paragraph)
		}
		if len(s.rows) > 0 {
			text.WriteString("\n" + markdownTable(s.columns, s.rows))
		}
		if s.code != "" {
			fmt.Fprintf(&text, "\n```\n%s\n```\n", s.code)
		}
	}
	return text.String()
}

// markdownTable lines the columns up, so that the file also reads well as text.
func markdownTable(head []string, rows [][]string) string {
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 3)
		}
	}
	var text strings.Builder
	line := func(row []string) {
		for i, cell := range row {
			fmt.Fprintf(&text, "| %s%s ", cell, strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
		}
		text.WriteString("|\n")
	}
	line(head)
	for i := range head {
		text.WriteString("|" + strings.Repeat("-", width[i]+2))
	}
	text.WriteString("|\n")
	for _, row := range rows {
		line(row)
	}
	return text.String()
}
