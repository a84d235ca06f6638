package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"causeway/app/rails"
	"causeway/ports"
)

type railsNoticesCommand struct {
	databaseFlags
	Name  string `arg:"" help:"Name of a connection to a bank."`
	Limit int    `default:"100" help:"Maximum number of notices, from 1 to 10000."`
}

func (c railsNoticesCommand) Run(ctx context.Context, out io.Writer) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		notices, err := service.Notices(ctx, c.Name, c.Limit+1)
		if err != nil {
			return err
		}
		if len(notices) == 0 {
			_, err := fmt.Fprintln(out, "There is nothing to look at in the files of this connection.")
			return err
		}
		t := table{rightAligned: []int{2}}
		for _, n := range notices[:min(len(notices), c.Limit)] {
			file := n.FileName
			if file == "" {
				file = "-"
			}
			t.add(formatMinute(n.At), string(n.Kind), strconv.FormatInt(n.File, 10), printable(file), printable(n.Place), printable(n.Name), orDash(n.Code), noticeText(n))
		}
		if err := t.write(out, "time", "notice", "number", "file", "place", "about", "code", "more"); err != nil || len(notices) <= c.Limit {
			return err
		}
		_, err = fmt.Fprintln(out, "There are more, which are older. Raise --limit.")
		return err
	})
}

// noticeText says why a file could not be read, or what is to be corrected.
func noticeText(n ports.BankNotice) string {
	if n.Problem != "" {
		return printable(n.Problem)
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(n.Correction)) {
		texts = append(texts, name+"="+n.Correction[name])
	}
	return orDash(printable(strings.Join(texts, " ")))
}
