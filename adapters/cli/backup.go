package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/audit"
	"causeway/app/backups"
	"causeway/core/backup"
	"causeway/core/fault"
)

// BackupCommand verifies backups of the database.
type BackupCommand struct {
	Verify backupVerifyCommand `cmd:"" help:"Restore the newest backup beside the service, check the ledger of the copy, and remove it. Exits 1 if the backup is not usable."`
	List   backupListCommand   `cmd:"" help:"List when backups were verified, newest first."`
}

// BackupFlags say where backups of the database are, and where a copy is restored.
type BackupFlags struct {
	BaseBackup       string `name:"base-backup" help:"Folder of a backup of pg_basebackup, plain or tar (also gzip and zstd), or of folders with such backups, of which the newest is taken." placeholder:"FOLDER" type:"path"`
	WALArchive       string `name:"wal-archive" help:"Folder with the archived write-ahead logs, as they were written. Everything in it is recovered." placeholder:"FOLDER" type:"path"`
	RestoreCommand   string `name:"restore-command" help:"In place of --wal-archive, the restore_command of Postgres that fetches an archived log, such as 'gunzip < /archive/%%f.gz > %%p'." placeholder:"COMMAND"`
	PgBackRestStanza string `name:"pgbackrest-stanza" help:"In place of --base-backup, the stanza of the backups in pgBackRest." placeholder:"NAME"`
	PgBackRestConfig string `name:"pgbackrest-config" help:"Configuration file of pgBackRest. Default: its own." placeholder:"FILE" type:"path"`
	WorkDir          string `name:"work-dir" help:"Folder in which the copy is restored, with space for the whole database. Default: TMPDIR or /tmp." placeholder:"FOLDER" type:"path"`
}

// Check reports every setting that is invalid.
func (f BackupFlags) Check() error {
	var bad []fault.Field
	refuse := func(flag, message string) { bad = append(bad, fault.Field{Field: flag, Message: message}) }
	switch {
	case f.BaseBackup == "" && f.PgBackRestStanza == "":
		refuse("--base-backup", "is required, or --pgbackrest-stanza")
	case f.BaseBackup != "" && f.PgBackRestStanza != "":
		refuse("--pgbackrest-stanza", "must not be set with --base-backup")
	}
	if f.WALArchive != "" && f.RestoreCommand != "" {
		refuse("--restore-command", "must not be set with --wal-archive")
	}
	if f.PgBackRestStanza != "" && f.WALArchive+f.RestoreCommand != "" {
		refuse("--wal-archive", "and --restore-command are for --base-backup: pgBackRest has its own archive")
	}
	if f.PgBackRestStanza == "" && f.PgBackRestConfig != "" {
		refuse("--pgbackrest-config", "is for --pgbackrest-stanza")
	}
	if len(bad) == 0 {
		return nil
	}
	return settingErrors("nothing was verified", fault.Invalid(bad...))
}

// Folder returns the folder in which a copy is restored.
func (f BackupFlags) Folder() string {
	if f.WorkDir != "" {
		return f.WorkDir
	}
	return os.TempDir()
}

type backupVerifyCommand struct {
	BackupFlags
	outputFlag
	checkpointFlags
	Database    string `default:"causeway" help:"Name of the service's database on the server that was backed up."`
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" secret:"" help:"Database of the running service, in which the result is recorded, for its metrics. Without it nothing is recorded." placeholder:"URL"`
}

func (c backupVerifyCommand) Run(ctx context.Context, env *Env) error {
	if err := c.Check(); err != nil {
		return err
	}
	options, err := c.published(ctx, env)
	if err != nil {
		return err
	}
	options.OfCopy = true
	var report audit.Report
	verifier := backups.Verifier{
		Source: env.OpenBackups(c.BackupFlags), Database: c.Database, Clock: env.Clock,
		Audit: func(ctx context.Context, url string) (backups.Check, error) {
			err := DatabaseFlags{DatabaseURL: url}.with(ctx, env, OnBooks, func(services Services) (err error) {
				report, err = services.Audit().Verify(ctx, options)
				return err
			})
			return checkOf(report), err
		},
		Step: func(format string, args ...any) { fmt.Fprintf(env.ErrOut, format+"\n", args...) },
	}
	result, verified := verifier.Verify(ctx)
	if verified != nil && !errors.Is(verified, backups.ErrNotUsable) {
		return verified
	}
	return errors.Join(verified, c.print(env, result, report), c.record(ctx, env, result))
}

// checkOf returns what a report says in short; a report without rules is one of nothing.
func checkOf(report audit.Report) backups.Check {
	check := backups.Check{Rules: len(report.Rules), Failed: len(report.Failed()), Unreached: report.Unreached}
	if check.Rules > 0 {
		check.Postings = report.Postings()
	}
	if !report.Clean() {
		check.Finding = report.Findings[0].String()
	}
	return check
}

// record records the result, which was printed before.
func (c backupVerifyCommand) record(ctx context.Context, env *Env, result backup.Verification) error {
	if c.DatabaseURL == "" {
		return c.note(env, "The result is not recorded, because --database-url (DATABASE_URL) is not set.")
	}
	if err := (DatabaseFlags{DatabaseURL: c.DatabaseURL}).with(ctx, env, AsRequest, func(services Services) error {
		return services.Backups().Record(ctx, result)
	}); err != nil {
		return fmt.Errorf("the result could not be recorded: %w", err)
	}
	return nil
}

func (c backupVerifyCommand) print(env *Env, v backup.Verification, report audit.Report) error {
	var page table.Page
	page.Keyed = true
	r := table.NewRecord("result", resultOf(v))
	r.Add("problem", table.OrDash(v.Problem))
	r.Add("began", v.Began)
	r.Add("backup", table.OrDash(v.Backup.Label))
	r.Add("backup began", v.Backup.Began)
	r.AddAs("backup age", "backup_age_seconds", seconds(v.Age(), v.Backup.Began.IsZero()))
	r.Add("recovered to", table.OrDash(v.Recovery.Position))
	r.Add("last log", table.OrDash(v.Recovery.Segment))
	r.Add("last commit", v.Recovery.LastCommit)
	notRestored := v.Recovery.Position == ""
	r.AddAs("would be lost", "recovery_point_seconds", seconds(v.Exposure(), notRestored))
	r.AddAs("restored in", "restored_in_seconds", seconds(v.Restored, notRestored))
	r.AddAs("size", "bytes", table.Cell{Text: fmt.Sprintf("%d MiB", v.Recovery.Bytes>>20), Value: v.Recovery.Bytes})
	r.AddAs("postings checked", "postings", v.Postings)
	if len(c.Checkpoints) > 0 {
		r.AddAs("postings since", "postings_published_since", v.Unreached)
	}
	page.Record("verification", r)
	if len(report.Rules) > 0 {
		page.Line("")
		addCheck(&page, c.Output, report)
	}
	return page.Write(env.Out, c.Output)
}

// resultOf says in a word whether a backup is usable.
func resultOf(v backup.Verification) string {
	if v.Problem != "" {
		return "FAILED"
	}
	return "PASSED"
}

// seconds is a duration, which programs read in seconds.
func seconds(d time.Duration, none bool) table.Cell {
	if none {
		return table.Cell{Text: "-"}
	}
	rounded := d.Round(time.Second)
	if d < 10*time.Second {
		rounded = d.Round(time.Millisecond)
	}
	return table.Cell{Text: rounded.String(), Value: int64(d / time.Second)}
}

type backupListCommand struct {
	DatabaseFlags
	listFlags
}

func (c backupListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		found, err := services.Backups().List(ctx, c.Limit+1)
		return printList(env, c.listFlags, found, err, listing[backup.Verification]{
			columns: []string{"verified", "result", "backup", "backup began", ">restored in|restored_in_seconds",
				">would be lost|recovery_point_seconds", ">postings", "problem"},
			row: func(t *table.Table, v backup.Verification) {
				notRestored := v.Recovery.Position == ""
				t.Add(table.Minute(v.Began), resultOf(v), table.OrDash(v.Backup.Label), table.Minute(v.Backup.Began),
					seconds(v.Restored, notRestored), seconds(v.Exposure(), notRestored), v.Postings, table.OrDash(v.Problem))
			},
			none: "No backup was verified yet.",
			more: "There are more. Raise --limit."})
	})
}
