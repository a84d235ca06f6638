package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/adapters/sanctions"
	"causeway/core/platform"
	"causeway/core/screening"
)

type screeningCommand struct {
	Load   screeningLoadCommand   `cmd:"" help:"Check a file of a sanctions list and replace the list that was loaded before."`
	Status screeningStatusCommand `cmd:"" help:"Print the sanctions lists that are screened against, with their dates and hashes."`
}

type screeningLoadCommand struct {
	databaseFlags
	List      string `required:"" enum:"ofac,eu" help:"ofac is the list of Specially Designated Nationals of the US Treasury, eu the consolidated list of the European Union." placeholder:"ofac|eu"`
	File      string `arg:"" help:"sdn.xml or sdn.csv; or the full sanctions list 1.1 of the European Union in XML." placeholder:"FILE"`
	Aliases   string `help:"alt.csv, with sdn.csv." placeholder:"FILE"`
	Addresses string `help:"add.csv, with sdn.csv." placeholder:"FILE"`
	actorFlag
}

// Run reads the whole file before it changes anything.
func (c screeningLoadCommand) Run(ctx context.Context, out io.Writer) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	read, hash, err := c.read()
	if err != nil {
		return err
	}
	now := systemClock{}.Now()
	list := screening.LoadedList{ID: ids.New().New(now), List: screening.List(c.List), PublishedAt: read.PublishedAt, SHA256: hash, Entries: len(read.Entries), LoadedAt: now, Actor: actor}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		if err := db.ReplaceSanctionsList(ctx, list, read.Entries); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "Loaded %d entries of the list %s, published %s. Reviews are screened against them.\n", list.Entries, list.List, dateText(list.PublishedAt))
		return err
	})
}

// read returns the entries of the files, and the hash of the files one after the other.
func (c screeningLoadCommand) read() (read sanctions.File, hash string, err error) {
	var readers [3]io.Reader
	sum := sha256.New()
	for i, name := range []string{c.File, c.Aliases, c.Addresses} {
		if name == "" {
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return read, "", err
		}
		defer func() { _ = file.Close() }() // it is only read
		readers[i] = io.TeeReader(file, sum)
	}
	if read, err = sanctions.Read(screening.List(c.List), readers[0], readers[1], readers[2]); err != nil {
		return read, "", fmt.Errorf("%s: %w; nothing was changed", c.File, err)
	}
	return read, hex.EncodeToString(sum.Sum(nil)), nil
}

func dateText(at time.Time) string {
	if at.IsZero() {
		return "at an unknown date"
	}
	return at.Format(time.DateOnly)
}

type screeningStatusCommand struct{ databaseFlags }

func (c screeningStatusCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		lists, err := db.SanctionsLists(ctx)
		if err != nil {
			return err
		}
		if len(lists) == 0 {
			_, err := fmt.Fprintln(out, "No sanctions list is loaded. Load one with: causeway screening load")
			return err
		}
		var rows table
		for _, list := range lists {
			rows.add(string(list.List), dateText(list.PublishedAt), fmt.Sprint(list.Entries), list.LoadedAt.Format(time.RFC3339), list.Actor, list.SHA256)
		}
		rows.rightAligned = []int{2}
		return rows.write(out, "list", "published", "entries", "loaded", "by", "sha256")
	})
}

// thresholdFlag is the score from which a match is shown.
type thresholdFlag struct {
	ScreeningThreshold int `name:"screening-threshold" env:"CAUSEWAY_SCREENING_THRESHOLD" default:"80" help:"Score from which a name resembles an entry of a sanctions list, from 50 to 100."`
}

// index returns an index of the loaded sanctions lists; nil if none is loaded.
func (f thresholdFlag) index(ctx context.Context, db *postgres.DB) (*screening.Index, error) {
	if f.ScreeningThreshold < screening.MinThreshold || f.ScreeningThreshold > 100 {
		return nil, fmt.Errorf("--screening-threshold (CAUSEWAY_SCREENING_THRESHOLD) must be from %d to 100, not %d", screening.MinThreshold, f.ScreeningThreshold)
	}
	entries, err := db.SanctionsEntries(ctx)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return screening.NewIndex(entries, f.ScreeningThreshold), nil
}
