package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// backupEnv is a service whose server archives its logs, in a folder and with pgBackRest.
type backupEnv struct {
	*testEnv
	primary     *kit.Postgres
	folder      string // of the backups and archives
	checkpoints string
}

func newBackupEnv(t *testing.T) *backupEnv {
	t.Helper()
	if _, err := exec.LookPath("pgbackrest"); err != nil {
		t.Fatal("pgbackrest is missing: run .ci/need pgbackrest")
	}
	folder, err := kit.PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	b := &backupEnv{folder: folder, checkpoints: t.TempDir()}
	b.primary, err = kit.CreatePostgres(waitContext(t), filepath.Join(folder, "primary"), "archive_mode=on",
		"unix_socket_directories="+folder, fmt.Sprintf("archive_command=cp %%p %[1]s/wal/%%f.part && mv %[1]s/wal/%%f.part %[1]s/wal/%%f && "+
			"pgbackrest --config=%[1]s/pgbackrest.conf --stanza=main archive-push %%p", folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.primary.Kill)
	_, port, _ := strings.Cut(b.primary.Address, ":")
	b.testEnv = &testEnv{t: t, databaseURL: b.primary.URL(), db: openURL(t, b.primary.URL())}
	b.script(fmt.Sprintf(`mkdir %[1]s/wal %[1]s/base %[1]s/repo %[1]s/state
cat > %[1]s/pgbackrest.conf <<END
[global]
repo1-path=%[1]s/repo
lock-path=%[1]s/state
log-path=%[1]s/state
spool-path=%[1]s/state
start-fast=y
compress-type=none
[global:restore]
link-all=y
delta=y
link-map=pg_wal=%[1]s/linked
tablespace-map=16384=%[1]s/mapped
db-include=postgres
[main]
pg1-path=%[1]s/primary
pg1-port=%[2]s
pg1-socket-path=%[1]s
pg1-user=postgres
END
pgbackrest --config=%[1]s/pgbackrest.conf --stanza=main stanza-create`, folder, port))
	mustRunCommand(t, []string{"DATABASE_URL=" + b.databaseURL}, "migrate")
	b.server = startServer(t, b.databaseURL, "--checkpoints", b.checkpoints, "--seal-every", "1s")
	b.tenant = b.createPlatform("Sandbox", "SANDBOX", "--regulated")
	return b
}

// script runs commands as the user of the server, with its programs.
func (b *backupEnv) script(text string) {
	b.t.Helper()
	if err := b.primary.RunScript(waitContext(b.t), text); err != nil {
		b.t.Fatal(err)
	}
}

// pay makes a payment, and returns when it is complete and its postings are published.
func (b *backupEnv) pay() {
	b.t.Helper()
	quote := b.createQuote("")
	b.payQuote(quote, 0).wantStatus(200)
	eventually(b.t, "the payment is complete and sealed", func() bool {
		log := b.get("/ledger/log").wantStatus(200)
		return b.get("/transactions/"+quote.text("transactionId")).text("status") == "COMPLETED" && log.int("postings") == log.int("published")
	})
}

// payMeanwhile makes payments until the returned function is called.
func (b *backupEnv) payMeanwhile() (stop func()) {
	customer := b.createCustomer()
	wallet := b.createWallet(customer, "000")
	ctx, cancel := context.WithCancel(context.Background())
	var payments sync.WaitGroup
	payments.Go(func() {
		pause := time.NewTicker(50 * time.Millisecond) // so that their check is fast
		defer pause.Stop()
		for ctx.Err() == nil {
			<-pause.C
			quote, err := b.client.do(ctx, "POST", "/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050))
			if err == nil && quote.status == 201 {
				_, _ = b.client.do(ctx, "POST", "/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD"})
			}
		}
	})
	return func() { cancel(); payments.Wait() }
}

// archive returns when everything that was committed is archived.
func (b *backupEnv) archive() {
	b.t.Helper()
	var last string
	if err := b.db.QueryRow("SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&last); err != nil {
		b.t.Fatal(err)
	}
	if err := b.primary.Exec(waitContext(b.t), "SELECT pg_switch_wal()"); err != nil {
		b.t.Fatal(err)
	}
	eventually(b.t, last+" is archived", func() bool {
		return b.queryInt("SELECT count(*) FROM pg_stat_archiver WHERE last_archived_wal >= $1", last) == 1
	})
}

// verified is what causeway backup verify prints.
type verified struct {
	Verification struct {
		Result, Problem, Backup string
		RecoveryPointSeconds    *int64 `json:"recovery_point_seconds"`
		RestoredInSeconds       *int64 `json:"restored_in_seconds"`
		Bytes, Postings         int64
		Since                   int64 `json:"postings_published_since"`
	}
	Rules    []struct{ Rule string }
	Findings []struct{ Rule string }
}

// verify verifies a backup, and compares its result with what is wanted: the text of the problem, or none. Nothing is left.
func (b *backupEnv) verify(problem string, args ...string) verified {
	b.t.Helper()
	b.script("mkdir --parents " + b.folder + "/work")
	work := b.folder + "/work"
	out, errOut, status := runCommand(b.t, []string{"DATABASE_URL=" + b.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey},
		append([]string{"backup", "verify", "--output", "json", "--work-dir", work}, args...)...)
	var v verified
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		b.t.Fatalf("%v: %s%s", err, out, errOut)
	}
	if passed := problem == ""; passed != (status == 0) || passed != (v.Verification.Result == "PASSED") ||
		!strings.Contains(v.Verification.Problem, problem) || !strings.Contains(errOut, problem) {
		b.t.Errorf("%q: status %d, want the problem %q\n%s%s", args, status, problem, out, errOut)
	}
	b.wantNothingLeft(work)
	return v
}

func (b *backupEnv) wantNothingLeft(work string) {
	b.t.Helper()
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		b.t.Errorf("the work folder has %v, %v", left, err)
	}
}

// metric returns the value of a metric of the service; "" for none.
func (b *backupEnv) metric(name string) string {
	b.t.Helper()
	_, body := getText(b.t, b.server.adminURL()+"/metrics")
	if value := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(body); value != nil {
		return value[1]
	}
	return ""
}

func TestBackupVerify_PaymentsGoOn(t *testing.T) {
	t.Parallel()
	// While payments go on, the newest of several base backups, plain and tar, and one of pgBackRest are restored with the logs,
	// their ledger passes every check and agrees with the published checkpoints, and the service's metrics tell it. The service
	// itself is as before: nothing of the copy is archived, and no commits count as lost. A damaged file, a missing log, a changed
	// posting and a missing backup are found, each by name, and recorded; nothing is left of any copy. What pgBackRest is configured
	// with for restoring the server itself does not count.
	b := newBackupEnv(t)
	b.pay()
	b.script("pg_basebackup --pgdata=" + b.folder + "/base/first --checkpoint=fast")
	stop := b.payMeanwhile()
	b.script("pg_basebackup --pgdata=" + b.folder + "/base/tar --format=tar --gzip --checkpoint=fast")
	b.script("pgbackrest --config=" + b.folder + "/pgbackrest.conf --stanza=main backup --log-level-console=error")
	b.script("cp -a " + b.folder + "/base/first " + b.folder + "/damaged")
	b.archive()
	fromArchive := []string{"--wal-archive", b.folder + "/wal", "--checkpoints", b.checkpoints}

	plain := b.verify("", append(fromArchive, "--base-backup", b.folder+"/base/first")...)
	newest := b.verify("", append(fromArchive, "--base-backup", b.folder+"/base")...)
	ofStanza := func(name string) []string {
		return []string{"--pgbackrest-stanza", name, "--pgbackrest-config", b.folder + "/pgbackrest.conf", "--checkpoints", b.checkpoints}
	}
	pgBackRest := b.verify("", ofStanza("main")...)
	stop()

	if newest.Verification.Backup != b.folder+"/base/tar" || !strings.HasSuffix(pgBackRest.Verification.Backup, "F") {
		t.Errorf("verified %s and %s", newest.Verification.Backup, pgBackRest.Verification.Backup)
	}
	for name, v := range map[string]verified{"plain": plain, "tar": newest, "pgBackRest": pgBackRest} {
		r := v.Verification
		if r.Postings < 10 || r.Bytes < 10<<20 || r.RecoveryPointSeconds == nil || *r.RecoveryPointSeconds > 120 || len(v.Rules) < 30 {
			t.Errorf("%s: %+v with %d rules", name, r, len(v.Rules))
		}
	}
	b.pay() // money moves
	// A base backup without its archive is as of its end, and says how much was published since.
	b.script("pg_basebackup --pgdata=" + b.folder + "/alone --checkpoint=fast")
	b.pay()
	if v := b.verify("", "--base-backup", b.folder+"/alone", "--checkpoints", b.checkpoints); v.Verification.Since < 2 {
		t.Errorf("a backup without logs lacks %d postings", v.Verification.Since)
	}
	eventually(t, "the metrics", func() bool { return b.metric("causeway_backup_verification_ok") == "1" })
	for _, name := range []string{"verified_timestamp_seconds", "age_seconds", "recovery_point_seconds", "restore_seconds"} {
		if value := b.metric("causeway_backup_" + name); value == "" || value == "0" {
			t.Errorf("causeway_backup_%s is %q", name, value)
		}
	}

	// A byte of a table.
	damageTable(t, b.folder+"/damaged")
	b.verify("pg_verifybackup", append(fromArchive, "--base-backup", b.folder+"/damaged")...)
	// A log that is needed to the end of the backup, or between it and the last one.
	first := regexp.MustCompile(`file (\w{24})`).FindStringSubmatch(readText(t, b.folder+"/base/first/backup_label"))[1]
	b.script("cp -a " + b.folder + "/wal " + b.folder + "/gap")
	if err := b.primary.Exec(waitContext(t), "SELECT pg_switch_wal()"); err != nil {
		t.Fatal(err)
	}
	later := append([]string{"--base-backup", b.folder + "/base/first"}, "--wal-archive", b.folder+"/gap")
	logs, err := filepath.Glob(b.folder + "/gap/" + strings.Repeat("?", 24))
	if err != nil || len(logs) < 3 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	removed := logs[len(logs)-2]
	if removed <= b.folder+"/gap/"+first {
		t.Fatalf("%s is not after %s", removed, first)
	}
	if err := os.Remove(removed); err != nil {
		t.Fatal(err)
	}
	b.verify("a log between them is missing or damaged", later...)
	b.verify("there is no base backup in "+b.folder+"/wal", append(fromArchive, "--base-backup", b.folder+"/wal")...)
	b.verify("the stanza does not exist", ofStanza("other")...)
	// An entry that a superuser has changed: nothing in the database says so, and the checkpoints do.
	tampered := b.folder + "/tampered"
	b.script("pg_basebackup --pgdata=" + tampered + " --checkpoint=fast")
	b.tamper(t, tampered)
	if v := b.verify("postings and entries are unchanged", "--base-backup", tampered, "--checkpoints", b.checkpoints); len(v.Findings) == 0 {
		t.Error("no finding is printed")
	}
	eventually(t, "the metrics of the failure", func() bool { return b.metric("causeway_backup_verification_ok") == "0" })

	list := mustRunCommand(t, []string{"DATABASE_URL=" + b.databaseURL}, "backup", "list")
	if passed, failed := strings.Count(list, " PASSED "), strings.Count(list, " FAILED "); passed != 4 || failed != 5 {
		t.Errorf("%d passed and %d failed:\n%s", passed, failed, list)
	}
	if n := b.queryInt("SELECT count(*) FROM lost_commit_findings"); n != 0 {
		t.Errorf("%d findings of lost commits", n)
	}
	if histories, _ := filepath.Glob(b.folder + "/wal/*.history"); len(histories) > 0 {
		t.Errorf("a copy has archived %v", histories)
	}
	b.pay()
	b.checkLedger()
}

func TestBackupVerify_EndsClean(t *testing.T) {
	t.Parallel()
	// A verification that is interrupted, while Postgres recovers, stops it and leaves nothing, and is not recorded as a failure. While
	// it runs, another one in the same folder is refused. Backups of another server are not recorded.
	b := newBackupEnv(t)
	b.script("pg_basebackup --pgdata=" + b.folder + "/base/only --checkpoint=fast")
	work := t.TempDir()
	started := filepath.Join(b.folder, "started")
	env := []string{"DATABASE_URL=" + b.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	args := []string{"backup", "verify", "--base-backup", b.folder + "/base", "--work-dir", work, "--restore-command",
		"touch " + started + "; exec sleep 600"}

	running := startProcessNoCleanup(t, env, args...)
	t.Cleanup(running.kill)
	eventually(t, "the recovery", func() bool { _, err := os.Stat(started); return err == nil })
	if _, errOut, status := runCommand(t, env, args...); status != 1 || !strings.Contains(errOut, "another verification of a backup") {
		t.Errorf("a second one: status %d, %s", status, errOut)
	}
	running.Signal(syscall.SIGINT)
	if status := running.awaitExit(); status != 1 || !strings.Contains(running.Output(), "interrupted") {
		t.Errorf("interrupted: status %d, %s", status, running.Output())
	}
	b.wantNothingLeft(work)
	if n := b.queryInt("SELECT count(*) FROM backup_verifications"); n != 0 {
		t.Errorf("%d verifications are recorded", n)
	}

	other := newDatabaseEnv(t)
	_, errOut, status := runCommand(t, []string{"DATABASE_URL=" + other.databaseURL}, "backup", "verify", "--base-backup", b.folder+"/base",
		"--work-dir", work)
	if status != 1 || !strings.Contains(errOut, "the backup is of another server") {
		t.Errorf("recorded elsewhere: status %d, %s", status, errOut)
	}
	b.wantNothingLeft(work)
}

// damageTable changes a byte in the middle of the largest file of a copy.
func damageTable(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/base/*/*")
	if err != nil {
		t.Fatal(err)
	}
	var largest string
	var size int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() > size {
			largest, size = file, info.Size()
		}
	}
	content, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(largest, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tamper changes an amount on both sides of a posting in a base backup, which then is a backup without a manifest.
func (b *backupEnv) tamper(t *testing.T, folder string) {
	t.Helper()
	data := folder + "-data"
	b.script("cp -a " + folder + " " + data + " && rm -r " + folder)
	server, err := kit.StartPostgres(waitContext(b.t), data)
	if err != nil {
		b.t.Fatal(err)
	}
	defer server.Kill()
	changed := openURL(t, strings.Replace(server.URL(), "causeway@", "postgres@", 1))
	if _, err := changed.Exec(`SET session_replication_role = replica;
		UPDATE ledger_entries SET amount = amount + 1 WHERE (platform_id, seq) =
			(SELECT platform_id, min(seq) FROM ledger_entries GROUP BY 1 LIMIT 1)`); err != nil {
		b.t.Fatal(err)
	}
	host := strings.Split(server.Address, ":")
	b.script(fmt.Sprintf("pg_basebackup --host=%s --port=%s --pgdata=%s --checkpoint=fast", host[0], host[1], folder))
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(text))
}
