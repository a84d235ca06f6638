package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"causeway/adapters/cli/table"
	"causeway/core/ident"
	"causeway/core/screening"
)

// ScreeningCommand is about the sanctions lists.
type ScreeningCommand struct {
	Load   screeningLoadCommand   `cmd:"" help:"Check a file of a sanctions list, replace the list that was loaded before, and screen the customers of all production platforms."`
	Status screeningStatusCommand `cmd:"" help:"Print the sanctions lists that are screened against, with their dates and hashes, and how far each production platform is screened."`
}

type screeningLoadCommand struct {
	DatabaseFlags
	List      string `required:"" enum:"ofac,eu" help:"ofac is the list of Specially Designated Nationals of the US Treasury, eu the consolidated list of the European Union." placeholder:"ofac|eu"`
	File      string `arg:"" help:"sdn.xml or sdn.csv; or the full sanctions list 1.1 of the European Union in XML." placeholder:"FILE"`
	Aliases   string `help:"alt.csv, with sdn.csv." placeholder:"FILE"`
	Addresses string `help:"add.csv, with sdn.csv." placeholder:"FILE"`
	Fewer     bool   `name:"allow-fewer" help:"Load the list even if it has more than 10 percent fewer entries than the one that was loaded before."`
	actorFlag
}

// Run reads the whole file before it changes anything.
func (c screeningLoadCommand) Run(ctx context.Context, env *Env) error {
	read, hash, err := c.read(env)
	if err != nil {
		return err
	}
	now := env.Clock.Now()
	list := screening.LoadedList{ID: env.IDs.New(now), List: screening.List(c.List), PublishedAt: read.PublishedAt, SHA256: hash,
		Entries: len(read.Entries), LoadedAt: now}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		by, err := c.author(ctx, env, services)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		list.Actor, list.Person = by.Actor, by.Person
		platforms, err := reviewedPlatforms(ctx, services, ident.Platform{})
		if err != nil {
			return err
		}
		err = services.Screening(screening.MinThreshold).Load(ctx, list, read.Entries, platforms, c.Fewer)
		return env.say(err,
			"Loaded %d entries of the list %s, published %s. The customers of %d production platforms are now screened against them; see: "+
				"causeway screening status\n",
			list.Entries, list.List, dateText(list.PublishedAt), len(platforms))
	})
}

// read returns the entries of the files, and the hash of the files one after the other.
func (c screeningLoadCommand) read(env *Env) (read SanctionsFile, hash string, err error) {
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
	if read, err = env.ReadSanctions(screening.List(c.List), readers[0], readers[1], readers[2]); err != nil {
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

// dateCell is a date of which people read that it is unknown.
func dateCell(at time.Time) table.Cell {
	cell := table.CellOf(at)
	cell.Text = dateText(at)
	return cell
}

type screeningStatusCommand struct {
	DatabaseFlags
	outputFlag
}

func (c screeningStatusCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, OnBooks, func(services Services) error {
		loaded, runs, err := services.Screening(screening.MinThreshold).Status(ctx)
		if err != nil {
			return err
		}
		lists := table.New("list", "published", ">entries", "loaded", "by", "sha256")
		for _, l := range loaded {
			lists.Add(l.List, dateCell(l.PublishedAt), l.Entries, l.LoadedAt, l.Actor, l.SHA256)
		}
		var page table.Page
		page.Table("lists", lists, "No sanctions list is loaded. Load one with: causeway screening load")
		progress := table.New("platform", "status", ">customers", ">owners", ">new hits", "started", "updated")
		if len(runs) > 0 {
			page.Line("")
		}
		for _, r := range runs {
			progress.Add(r.Platform, r.Status, fmt.Sprintf("%d of %d", r.Customers, max(r.Total, r.Customers)), r.Owners, r.Hits, r.StartedAt,
				r.UpdatedAt)
		}
		page.Table("progress", progress, "")
		return c.print(env, &page)
	})
}
