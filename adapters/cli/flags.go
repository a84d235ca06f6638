package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/people"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/core/screening"
	"causeway/ports"
)

// DatabaseFlags name the database of a command: by its URL, or by the data folder of a
// private Postgres.
type DatabaseFlags struct {
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" secret:"" help:"Postgres database URL. Default: the private Postgres in the data folder." placeholder:"URL"`
	DataFlag
}

// DataFlag is the data folder.
type DataFlag struct {
	Data string `env:"CAUSEWAY_DATA" default:".causeway" help:"Folder for the private Postgres, the credentials and the keys." type:"path"`
}

// VaultFlag is the token for a master key in Vault.
type VaultFlag struct {
	VaultToken string `name:"vault-token" env:"CAUSEWAY_VAULT_TOKEN" secret:"" help:"Token for a master key in Vault. Its file is read again for each request, so that the token can be renewed." placeholder:"TOKEN"`
}

// MasterKeyFlag is the master key of a command other than the server.
type MasterKeyFlag struct {
	VaultFlag
	MasterKey string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" secret:"" help:"Master key of the service. Default: the one in the data folder." placeholder:"KEY"`
}

// BlobFlags say where the files of documents are stored.
type BlobFlags struct {
	Blobs          string `name:"blobs" env:"CAUSEWAY_BLOBS" help:"Where the files of documents and of exports of the console are stored, encrypted: folder:/path, shared by all processes, or s3://bucket/prefix?endpoint=https://host&region=name. Without it there are none; causeway dev uses a folder in the data folder." placeholder:"LOCATION"`
	BlobsAccessKey string `name:"blobs-access-key" env:"CAUSEWAY_BLOBS_ACCESS_KEY" secret:"" help:"Access key of the bucket. Default: AWS_ACCESS_KEY_ID, or the role of the machine." placeholder:"KEY"`
	BlobsSecretKey string `name:"blobs-secret-key" env:"CAUSEWAY_BLOBS_SECRET_KEY" secret:"" help:"Secret key of the bucket. Default: AWS_SECRET_ACCESS_KEY, or the role of the machine." placeholder:"KEY"`
}

// InFolder returns the flags with a folder of the data folder as the default.
func (f BlobFlags) InFolder(data string) BlobFlags {
	if f.Blobs == "" {
		f.Blobs = "folder:" + filepath.ToSlash(filepath.Join(data, "blobs"))
	}
	return f
}

// ThresholdFlag is the score from which a match is shown.
type ThresholdFlag struct {
	ScreeningThreshold int `name:"screening-threshold" env:"CAUSEWAY_SCREENING_THRESHOLD" default:"80" help:"Score from which a name resembles an entry of a sanctions list, from 50 to 100."`
}

// CheckThreshold reports an invalid value with the name of its setting.
func (f ThresholdFlag) CheckThreshold() error {
	if f.ScreeningThreshold < screening.MinThreshold || f.ScreeningThreshold > 100 {
		return fmt.Errorf("--screening-threshold (CAUSEWAY_SCREENING_THRESHOLD) must be from %d to 100, not %d", screening.MinThreshold,
			f.ScreeningThreshold)
	}
	return nil
}

// with opens the services on the database, and calls do.
func (f DatabaseFlags) with(ctx context.Context, env *Env, work Work, do func(Services) error) error {
	return f.withAccess(ctx, env, Access{Work: work}, do)
}

func (f DatabaseFlags) withAccess(ctx context.Context, env *Env, access Access, do func(Services) error) (err error) {
	services, err := env.Open(ctx, f, access)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close()) }()
	return do(services)
}

// platformFlag selects a platform.
type platformFlag struct {
	Platform string `help:"Platform id, as printed by causeway platform list. Required if several are open." placeholder:"ID"`
}

// resolve parses a platform id and checks that the platform exists. Without an id it returns the only one that is open.
func (f platformFlag) resolve(ctx context.Context, services Services) (ident.Platform, error) {
	if f.Platform != "" {
		id, err := f.parse()
		if err != nil {
			return id, err
		}
		if _, err := services.Platforms().Settings(ctx, id); err != nil {
			return id, fmt.Errorf("--platform: %s does not exist", id)
		}
		return id, nil
	}
	var only ident.Platform
	for found, err := range services.Platforms().All(ctx) {
		if err != nil {
			return only, err
		}
		if found.Closed() {
			continue
		}
		if !only.IsZero() {
			return ident.Platform{}, errors.New("several platforms exist; set --platform")
		}
		only = found.ID
	}
	if only.IsZero() {
		return only, errors.New("no platform exists yet")
	}
	return only, nil
}

// parse returns the platform that is named, and the zero id for none.
func (f platformFlag) parse() (ident.Platform, error) {
	if f.Platform == "" {
		return ident.Platform{}, nil
	}
	id, err := ident.ParsePlatform(f.Platform)
	return id, flagError("--platform", err)
}

// platformFlags name a platform in a database.
type platformFlags struct {
	DatabaseFlags
	platformFlag
}

// on opens the services on the database, and calls do with the platform.
func (f platformFlags) on(ctx context.Context, env *Env, work Work, do func(Services, ident.Platform) error) error {
	return f.with(ctx, env, work, func(services Services) error {
		p, err := f.resolve(ctx, services)
		if err != nil {
			return err
		}
		env.nameTokensOf(ctx, services, p)
		return do(services, p)
	})
}

// nameTokensOf makes what is printed name the tokens of a platform.
func (env *Env) nameTokensOf(ctx context.Context, services Services, p ident.Platform) {
	env.nameTokens = func(texts ...*string) error { return services.Platforms().NameTokens(ctx, p, texts...) }
}

// anyPlatformFlag selects a platform in place of all.
type anyPlatformFlag struct {
	Platform string `help:"Only this platform, by its id. Default: all platforms." placeholder:"ID"`
}

// parse returns the platform that is named, and the zero id for all.
func (f anyPlatformFlag) parse() (ident.Platform, error) { return platformFlag(f).parse() }

// resolve is parse, and checks that the platform exists.
func (f anyPlatformFlag) resolve(ctx context.Context, services Services) (ident.Platform, error) {
	if f.Platform == "" {
		return ident.Platform{}, nil
	}
	return platformFlag(f).resolve(ctx, services)
}

// actorFlag is part of each command that records who runs it.
type actorFlag struct {
	Actor string `help:"Who does it, if nobody has signed in with causeway login; recorded with the change. Default: the user of the operating system." placeholder:"NAME"`
}

// author returns who runs the command: the person who has signed in, or a name.
func (f actorFlag) author(ctx context.Context, env *Env, services Services) (platform.Author, error) {
	session, err := env.Sessions.Of(services.Database())
	if err != nil {
		return platform.Author{}, err
	}
	c := people.Command{Name: env.Command, Actor: f.Actor, IsNamed: f.Actor != "", Secret: session.Secret,
		Platform: env.Platform}
	if current, err := user.Current(); err == nil && !c.IsNamed {
		c.Actor = current.Username
	}
	return services.People().Acting(ctx, c)
}

// changer is author for a command that sets times in the ledger, which the clock of this machine has to allow. The outcome is what the
// error says of a refused one.
func (f actorFlag) changer(ctx context.Context, env *Env, services Services, outcome string) (by platform.Author, err error) {
	if err = services.CheckClock(ctx); err == nil {
		by, err = f.author(ctx, env, services)
	}
	return by, fieldErrors(outcome, err)
}

// withAuthor calls do with the services on the database and who runs the command. The outcome is what the error says of a refused one.
func (f actorFlag) withAuthor(ctx context.Context, env *Env, database DatabaseFlags, outcome string,
	do func(Services, platform.Author) error) error {
	return database.with(ctx, env, AsRequest, func(services Services) error {
		by, err := f.author(ctx, env, services)
		if err != nil {
			return fieldErrors(outcome, err)
		}
		return do(services, by)
	})
}

// action returns the record of what the command does to what name says: of a platform, or of the
// whole service if it is zero.
func (f actorFlag) action(ctx context.Context, env *Env, services Services, kind platform.OperatorActionKind, p ident.Platform,
	name string) (platform.OperatorAction, error) {
	by, err := f.author(ctx, env, services)
	if err != nil {
		return platform.OperatorAction{}, fieldErrors("nothing was changed", err)
	}
	now := env.Clock.Now()
	return platform.OperatorAction{ID: env.IDs.New(now), Platform: p, Kind: kind, Name: name, Actor: by.Actor, Person: by.Person, At: now}, nil
}

// record records that the operator is about to see what name says.
func (f actorFlag) record(ctx context.Context, env *Env, services Services, kind platform.OperatorActionKind, p ident.Platform, name string,
	subject uuid.UUID) error {
	action, err := f.action(ctx, env, services, kind, p, name)
	if err != nil {
		return err
	}
	action.Subject = subject
	return services.Platforms().Record(ctx, action)
}

// changeFlags are those of a command that changes something of a platform for an operator.
type changeFlags struct {
	platformFlags
	actorFlag
}

// change calls do with the platform and the operator, if the clock of this machine may set times in the ledger. The outcome is
// what the error says of a refused change.
func (f changeFlags) change(ctx context.Context, env *Env, work Work, outcome string,
	do func(Services, ident.Platform, platform.Author) error) error {
	return f.with(ctx, env, work, func(services Services) error {
		by, err := f.changer(ctx, env, services, outcome)
		if err != nil {
			return err
		}
		p, err := f.resolve(ctx, services)
		if err != nil {
			return err
		}
		env.nameTokensOf(ctx, services, p)
		return fieldErrors(outcome, do(services, p, by))
	})
}

// outputFlag selects how a command prints what it lists or shows.
type outputFlag struct {
	Output table.Format `default:"table" enum:"table,csv,json" help:"table, or csv or json for programs."`
}

func (f outputFlag) print(env *Env, page *table.Page) error {
	if env.nameTokens != nil {
		if err := page.NameActors(env.nameTokens); err != nil {
			return err
		}
	}
	return page.Write(env.Out, f.Output)
}

// printTable prints a table. If it is empty, people read the text none in its place.
func (f outputFlag) printTable(env *Env, t *table.Table, none string) error {
	var page table.Page
	page.Table("", t, none)
	return f.print(env, &page)
}

// printRecord prints a record.
func (f outputFlag) printRecord(env *Env, r *table.Record) error {
	return f.print(env, table.PageOf(r))
}

// note prints a line beside the result: where a program does not read it.
func (f outputFlag) note(env *Env, line string) error {
	out := env.Out
	if f.Output != table.Text {
		out = env.ErrOut
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// maxListed is the maximum number of items that a command lists.
const maxListed = 10_000

// listFlags are those of a command that lists.
type listFlags struct {
	outputFlag
	Limit int `default:"100" help:"Maximum number of items, from 1 to 10000."`
}

// check returns an error for a limit that is out of range.
func (f listFlags) check() error {
	if f.Limit < 1 || f.Limit > maxListed {
		return fmt.Errorf("--limit must be from 1 to %d, not %d", maxListed, f.Limit)
	}
	return nil
}

// paging returns the first page with as many items as the limit allows.
func (f listFlags) paging() ports.Paging { return ports.Paging{Limit: f.Limit} }

// listing is how items are listed.
type listing[T any] struct {
	columns []string
	row     func(t *table.Table, item T)
	// none is printed if there is nothing to list, and more if there are items beyond the limit.
	none, more string
}

// printList prints items, of which one more than the limit was read, or returns the error of reading them.
func printList[T any](env *Env, f listFlags, items []T, err error, l listing[T]) error {
	if err != nil {
		return err
	}
	t := table.New(l.columns...)
	for _, item := range items[:min(len(items), f.Limit)] {
		l.row(t, item)
	}
	if err := f.printTable(env, t, l.none); err != nil || len(items) <= f.Limit {
		return err
	}
	return f.note(env, l.more)
}

// show prints what read returns of the platform, unless what the command was given is invalid.
func (f tableFlags) show(ctx context.Context, env *Env, work Work, invalid error,
	read func(Services, ident.Platform) (*table.Page, error)) error {
	if invalid != nil {
		return invalid
	}
	return f.on(ctx, env, work, func(services Services, p ident.Platform) error {
		page, err := read(services, p)
		if err != nil {
			return err
		}
		return f.print(env, page)
	})
}

// say prints what was done, or returns the error of doing it.
func (e *Env) say(err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(e.Out, format, args...)
	}
	return err
}

// parseTime parses a flag with a time, which may be empty.
func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s must be an RFC 3339 timestamp, such as 2026-03-01T00:00:00Z, not %q", flag, text)
	}
	return t.UTC(), nil
}

// parseInterval parses the flags --from and --to, which may be empty.
func parseInterval(from, to string) (i period.Interval, err error) {
	var errFrom, errTo error
	i.From, errFrom = parseTime("--from", from)
	i.To, errTo = parseTime("--to", to)
	return i, errors.Join(errFrom, errTo)
}

// noteFlag is the reason for a change.
type noteFlag struct {
	Note string `required:"" help:"Why. It is recorded." placeholder:"TEXT"`
}

// parseAmount parses an amount in major units with its currency.
func parseAmount(flag, text string) (money.Amount, error) {
	number, code, _ := strings.Cut(strings.TrimSpace(text), " ")
	currency := money.Currency(strings.TrimSpace(code))
	if !currency.Known() {
		return money.Amount{}, fmt.Errorf("%s must be an amount and a currency, such as '12.50 USD', not %q", flag, text)
	}
	minor, err := reconcile.ParseAmount(number, currency, '.', 0)
	if err != nil {
		return money.Amount{}, flagError(flag, err)
	}
	return money.Amount{Minor: minor, Currency: currency}, nil
}
