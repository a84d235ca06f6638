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
	"causeway/app/customers"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

type screeningCommand struct {
	Load   screeningLoadCommand   `cmd:"" help:"Check a file of a sanctions list, replace the list that was loaded before, and screen the customers of all production platforms."`
	Status screeningStatusCommand `cmd:"" help:"Print the sanctions lists that are screened against, with their dates and hashes, and how far each production platform is screened."`
}

type screeningLoadCommand struct {
	databaseFlags
	List      string `required:"" enum:"ofac,eu" help:"ofac is the list of Specially Designated Nationals of the US Treasury, eu the consolidated list of the European Union." placeholder:"ofac|eu"`
	File      string `arg:"" help:"sdn.xml or sdn.csv; or the full sanctions list 1.1 of the European Union in XML." placeholder:"FILE"`
	Aliases   string `help:"alt.csv, with sdn.csv." placeholder:"FILE"`
	Addresses string `help:"add.csv, with sdn.csv." placeholder:"FILE"`
	Fewer     bool   `name:"allow-fewer" help:"Load the list even if it has more than 10 percent fewer entries than the one that was loaded before."`
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
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		platforms, err := productionPlatforms(ctx, db)
		if err != nil {
			return err
		}
		service := customers.NewScreening(customers.NewVerifications(customers.VerificationsConfig{Store: db, Clock: systemClock{}, IDs: idGenerator}), db)
		if err := service.Load(ctx, list, read.Entries, platforms, c.Fewer); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Loaded %d entries of the list %s, published %s. The customers of %d production platforms are now screened against them; see: causeway screening status\n",
			list.Entries, list.List, dateText(list.PublishedAt), len(platforms))
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
		if err := rows.write(out, "list", "published", "entries", "loaded", "by", "sha256"); err != nil {
			return err
		}
		runs, err := db.LastScreeningRuns(ctx)
		if err != nil || len(runs) == 0 {
			return err
		}
		progress := table{rightAligned: []int{2, 3, 4}}
		for _, r := range runs {
			progress.add(r.Platform.String(), string(r.Status), fmt.Sprintf("%d of %d", r.Customers, max(r.Total, r.Customers)), fmt.Sprint(r.Owners), fmt.Sprint(r.Hits), r.StartedAt.Format(time.RFC3339), r.UpdatedAt.Format(time.RFC3339))
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		return progress.write(out, "platform", "status", "customers", "owners", "new hits", "started", "updated")
	})
}

// thresholdFlag is the score from which a match is shown.
type thresholdFlag struct {
	ScreeningThreshold int `name:"screening-threshold" env:"CAUSEWAY_SCREENING_THRESHOLD" default:"80" help:"Score from which a name resembles an entry of a sanctions list, from 50 to 100."`
}

// checkThreshold reports an invalid value with the name of its setting.
func (f thresholdFlag) checkThreshold() error {
	if f.ScreeningThreshold < screening.MinThreshold || f.ScreeningThreshold > 100 {
		return fmt.Errorf("--screening-threshold (CAUSEWAY_SCREENING_THRESHOLD) must be from %d to 100, not %d", screening.MinThreshold, f.ScreeningThreshold)
	}
	return nil
}

// screeners compare the customers of every platform that an operator reviews.
func (f thresholdFlag) screeners(db *postgres.DB) customers.Screeners {
	screener := customers.NewScreener(db, f.ScreeningThreshold)
	return customers.Screeners{platform.Production: screener, platform.Sandbox: screener}
}
