package faults

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"causeway/e2e/kit"
)

// The settings of the drill: how many failures, which (names with commas between; empty is all), and the seed of an earlier run.
const (
	failoverRoundsEnv   = "FAILOVER_ROUNDS"
	failoverFailuresEnv = "FAILOVER_FAILURES"
	failoverSeedEnv     = "FAILOVER_SEED"
)

const (
	// flowLimit is within what time of a promotion payments are made again.
	flowLimit = 5 * time.Second
	// pauseLimit is how long payments may stop for a failure after which nothing is promoted.
	pauseLimit   = 10 * time.Second
	drillWorkers = 4
)

// failure is one that the drill makes.
type failure struct {
	name     string
	promotes bool // another server becomes the primary
	isolated bool // needs a network and a disk of each server
	// outage is how long no payments can be made while the failure lasts.
	outage time.Duration
	// strike makes the failure. What it returns ends it, when payments are made again.
	strike func(d *drill, primary, standby *kit.PatroniNode) (end func())
}

var failures = []failure{
	{name: "kill-primary", promotes: true, strike: func(d *drill, primary, _ *kit.PatroniNode) func() {
		primary.Kill()
		return func() { d.must(primary.Start()) }
	}},
	{name: "crash-primary", promotes: true, strike: func(_ *drill, primary, _ *kit.PatroniNode) func() {
		primary.KillPostgres()
		return func() {}
	}},
	{name: "freeze-primary", promotes: true, strike: func(_ *drill, primary, _ *kit.PatroniNode) func() {
		primary.Freeze()
		return primary.Thaw
	}},
	{name: "cut-primary", promotes: true, isolated: true, strike: func(d *drill, primary, _ *kit.PatroniNode) func() {
		d.must(primary.Cut(waitContext(d.t)))
		return func() { d.must(primary.Mend(waitContext(d.t))) }
	}},
	// Writes fail. Postgres goes on while it needs no new file for its log, so mostly nothing is promoted.
	{name: "fill-disk", isolated: true, outage: 10 * time.Second, strike: func(d *drill, primary, _ *kit.PatroniNode) func() {
		ballast := filepath.Join(primary.Dir, "ballast")
		d.must(fill(ballast))
		d.sleep(10 * time.Second)
		d.must(os.Remove(ballast))
		return func() {}
	}},
	// The key of the primary ends while it still runs and accepts connections.
	{name: "stop-patroni", promotes: true, strike: func(_ *drill, primary, _ *kit.PatroniNode) func() {
		primary.FreezePatroni()
		return primary.Thaw
	}},
	// Somebody promotes a standby by hand while the primary runs. Patroni undoes that; the operator has that standby copied again.
	{name: "promote-standby", strike: func(d *drill, _, standby *kit.PatroniNode) func() {
		d.must(execOn(waitContext(d.t), standby, "SELECT pg_promote(false)"))
		return func() {
			d.sleep(15 * time.Second) // until Patroni has stopped it
			d.eventually(func() string { return "the standby is copied again" },
				func() bool {
					return d.callPatroni(standby, http.MethodPost, "/reinitialize", kit.Object{"force": true}) == nil
				})
		}
	}},
	{name: "kill-standby", strike: func(d *drill, _, standby *kit.PatroniNode) func() {
		standby.Kill()
		return func() { d.must(standby.Start()) }
	}},
	{name: "kill-etcd", strike: func(d *drill, _, _ *kit.PatroniNode) func() {
		d.cluster.Etcd.Kill()
		d.sleep(30 * time.Second) // longer than the key of the primary lasts
		return func() { d.must(d.cluster.StartEtcd()) }
	}},
	{name: "restart-everything", promotes: true, strike: (*drill).restartEverything},
}

// restartEverything is a power cut.
func (d *drill) restartEverything(*kit.PatroniNode, *kit.PatroniNode) func() {
	for _, p := range d.processes {
		p.running.Kill()
	}
	d.cluster.HAProxy.Kill()
	for _, n := range d.cluster.Nodes {
		n.Kill()
	}
	d.cluster.Etcd.Kill()
	d.must(d.cluster.StartEtcd())
	for _, n := range d.cluster.Nodes {
		d.must(n.Start())
	}
	d.must(d.cluster.StartHAProxy())
	d.eventually(func() string { return "there is a primary" }, func() bool { return d.servers.onlyPrimary() != nil })
	for _, p := range d.processes {
		p.start()
	}
	return func() {}
}

// drill is a cluster with two processes of the service, and a load.
type drill struct {
	*load
	cluster *kit.PatroniCluster
	servers *serverWatch
	probes  []*probe
	rows    []drillRow
}

// drillRow is what one failure has led to.
type drillRow struct {
	failure                  string
	promoted                 time.Duration   // after the failure; 0 for none
	flow                     []time.Duration // of each process: from the promotion to a payment
	pauses                   []time.Duration // of each process: the longest time without a payment
	payments                 int
	lost, doubled, toldTwice int64
}

func TestFailover_Drill(t *testing.T) {
	t.Parallel()
	// Payments of every kind are made by two processes, one behind HAProxy and one with the list of the servers, while servers with
	// Patroni fail in every way. Payments are made again within 5 s of a promotion, no accepted payment is lost, nothing is done
	// or told twice, and the ledger agrees with itself and with the published checkpoints.
	if os.Getenv(failoverRoundsEnv) == "" {
		t.Skipf("%s is not set", failoverRoundsEnv)
	}
	drawn := drawFailures(t)
	d := startDrill(t)
	defer func() {
		d.report()
		if t.Failed() {
			t.Logf("the log of HAProxy:\n%s", d.cluster.HAProxy.Tail())
			for _, n := range d.cluster.Nodes {
				t.Logf("the log of Patroni on %s:\n%s", n.Name, strings.Join(n.PatroniLog(), "\n"))
			}
		}
	}()
	for n, f := range drawn {
		t.Logf("failure %d of %d: %s", n+1, len(drawn), f.name)
		if f.isolated && d.cluster.Limited != "" {
			t.Logf("%s is left out: %s", f.name, d.cluster.Limited)
			continue
		}
		d.run(f)
		if t.Failed() {
			return
		}
	}
}

// drawFailures draws the failures of a run: each once before any of them again.
func drawFailures(t *testing.T) (drawn []failure) {
	t.Helper()
	rounds, err := strconv.Atoi(os.Getenv(failoverRoundsEnv))
	if err != nil || rounds < 1 {
		t.Fatalf("%s must be a number from 1", failoverRoundsEnv)
	}
	seed := rand.Uint64()
	if text := os.Getenv(failoverSeedEnv); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s must be a number", failoverSeedEnv)
		}
	}
	t.Logf("%s=%d", failoverSeedEnv, seed)
	deck := slices.Clone(failures)
	if text := os.Getenv(failoverFailuresEnv); text != "" {
		names := strings.Split(text, ",")
		deck = slices.DeleteFunc(deck, func(f failure) bool { return !slices.Contains(names, f.name) })
		if len(deck) != len(names) {
			t.Fatalf("%s must have names with commas between, of %v", failoverFailuresEnv, failureNames())
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for len(drawn) < rounds {
		random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		drawn = append(drawn, deck...)
	}
	return drawn[:rounds]
}

func failureNames() (names []string) {
	for _, f := range failures {
		names = append(names, f.name)
	}
	return names
}

func startDrill(t *testing.T) *drill {
	t.Helper()
	s := &system{t: t, checkpoints: t.TempDir()}
	dir, err := kit.PostgresFolder()
	s.must(err)
	t.Cleanup(func() { s.must(os.RemoveAll(dir)) })
	cluster, err := kit.StartPatroniCluster(waitContext(t), dir, filepath.Join("..", "..", "deploy", "failover"))
	s.must(err)
	t.Cleanup(func() { s.must(cluster.Close()) })
	d := &drill{load: &load{system: s}, cluster: cluster, servers: watchServers(t, cluster)}
	s.must(d.callPatroni(cluster.Nodes[0], http.MethodPatch, "/config", // for small disks
		kit.Object{"postgresql": kit.Object{"parameters": kit.Object{"max_wal_size": "96MB", "min_wal_size": "32MB"}}}))

	s.ownerURL = cluster.URL()
	_, err = kit.MustSucceed(waitContext(t), kit.Command{Program: binary, Args: []string{"migrate"},
		Env: []string{"DATABASE_URL=" + s.ownerURL}})
	s.must(err)
	s.db, err = sql.Open("pgx", s.ownerURL)
	s.must(err)
	t.Cleanup(func() { _ = s.db.Close() })
	list, err := kit.CreateServiceLogin(waitContext(t), s.ownerURL)
	s.must(err)
	proxied, err := cluster.ProxyURL(list)
	s.must(err)
	d.awaitWhole()
	s.addProcess(proxied)
	s.addProcess(list)
	s.createSandbox()
	for n := range 4 {
		d.customers = append(d.customers, s.createCustomer(n))
	}
	for _, p := range s.processes {
		d.probes = append(d.probes, d.newProbe(p))
	}
	return d
}

// callPatroni makes a request to Patroni on a server, as patronictl does.
func (d *drill) callPatroni(n *kit.PatroniNode, method, path string, body kit.Object) error {
	text, err := json.Marshal(body)
	d.must(err)
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+n.Host+":8008"+path, bytes.NewReader(text))
	d.must(err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s of Patroni on %s: %s", method, path, n.Name, response.Status)
	}
	return nil
}

// run makes one failure while payments are made, and checks what must hold afterwards.
func (d *drill) run(f failure) {
	d.t.Helper()
	d.awaitWhole()
	before := len(d.payments)
	d.start(drillWorkers)
	for _, p := range d.probes {
		p.start()
	}
	d.awaitPayments(40)
	primary, standby := d.servers.primaryAndStandby(d.t)
	row := drillRow{failure: f.name}

	struck := time.Now()
	d.t.Logf("%s: %s on the primary %s, with the standby %s", clockTime(struck), f.name, primary.Name, standby.Name)
	end := f.strike(d, primary, standby)
	since := time.Now()
	if f.promotes {
		promoted := d.servers.awaitPromotion(d.t, primary, struck)
		row.promoted, since = promoted.Sub(struck), promoted
		d.t.Logf("%s: a server was promoted", clockTime(promoted))
	}
	for _, p := range d.probes {
		row.flow = append(row.flow, p.awaitPayment(since).Sub(since))
	}
	d.awaitPayments(40)
	end()
	d.awaitWhole()
	d.awaitPayments(40)
	d.finish()
	for _, p := range d.probes {
		p.finish()
		row.pauses = append(row.pauses, p.longestPause(struck))
	}

	d.awaitEnd()
	row.payments = len(d.payments) - before
	row.lost, row.doubled, row.toldTwice = d.losses()
	d.rows = append(d.rows, row)
	for i, flow := range row.flow {
		if flow > flowLimit {
			d.t.Errorf("%s: the first payment of process %d was made after %s, not within %s", f.name, i, flow, flowLimit)
		}
		if limit := pauseLimit + f.outage; !f.promotes && row.pauses[i] > limit {
			d.t.Errorf("%s: process %d made no payment for %s, more than %s", f.name, i, row.pauses[i], limit)
		}
	}
	d.check()
}

// awaitWhole returns when there is one primary, and both others follow it synchronously.
func (d *drill) awaitWhole() {
	d.t.Helper()
	var last string
	d.eventually(func() string { return "the cluster is whole: " + last }, func() bool {
		last = ""
		primary := d.servers.onlyPrimary()
		if primary == nil {
			last = "there is not one primary"
			return false
		}
		ctx, cancel := context.WithTimeout(d.t.Context(), 2*time.Second)
		defer cancel()
		var standbys string
		if err := queryOn(ctx, primary, `SELECT coalesce(string_agg(application_name || ' ' || state || ' ' || sync_state, ', '), 'no standbys')
			FROM pg_stat_replication WHERE application_name LIKE 'db_'`, &standbys); err != nil {
			last = err.Error()
			return false
		}
		last = standbys
		return strings.Count(standbys, " streaming sync") == len(d.cluster.Nodes)-1
	})
}

// report prints what each failure has led to.
func (d *drill) report() {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "failure\tpromoted after\tflow: HAProxy\tflow: hosts\tpause: HAProxy\tpause: hosts\t"+
		"payments\tlost\tdoubled\ttold twice\t")
	for _, r := range d.rows {
		promoted := "-"
		if r.promoted > 0 {
			promoted = seconds(r.promoted)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t\n", r.failure, promoted, seconds(r.flow[0]), seconds(r.flow[1]),
			seconds(r.pauses[0]), seconds(r.pauses[1]), r.payments, r.lost, r.doubled, r.toldTwice)
	}
	_ = table.Flush()
	d.t.Logf("flow is from the promotion, or the end of a failure without one, to the first payment; "+
		"pause is the longest time without one\n%s", text.String())
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000") }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
