package kit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// PatroniCluster is three Postgres servers with Patroni, the etcd that it stores its state in, and HAProxy in front of them, configured
// by deploy/failover. For root, each server has a network interface that can be cut, and a small disk.
type PatroniCluster struct {
	Nodes   []*PatroniNode
	Etcd    *Process
	HAProxy *Process
	// Limited says what this user may not do to the servers; empty for root.
	Limited string

	dir    string
	host   string // of etcd, of HAProxy and of clients
	bridge string // that the servers are connected to; empty without networks of their own
}

// PatroniNode is one of the servers.
type PatroniNode struct {
	Name, Host string
	Dir        string // its disk
	Patroni    *Process

	cluster   *PatroniCluster
	namespace string // of its network; empty for that of this process
}

const (
	clusterPassword = "drill"
	nodeDiskSize    = "600m"
	proxyPort       = "5000"
)

// StartPatroniCluster starts all of it below a folder of PostgresFolder, with the files of a folder such as deploy/failover, and
// returns when there is a primary with the database of the owner. Close it.
func StartPatroniCluster(ctx context.Context, dir, configs string) (*PatroniCluster, error) {
	c := &PatroniCluster{dir: dir}
	for _, name := range []string{"patroni.yml", "haproxy.cfg"} {
		text, err := os.ReadFile(filepath.Join(configs, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // the user of Postgres reads it
			return nil, err
		}
	}
	for n := range 3 {
		node := &PatroniNode{Name: fmt.Sprintf("db%d", n+1), cluster: c}
		node.Dir = filepath.Join(dir, node.Name)
		c.Nodes = append(c.Nodes, node)
	}
	c.createNetworks(ctx)
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *PatroniCluster) start(ctx context.Context) error {
	if err := c.StartEtcd(); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if err := n.createDisk(); err != nil {
			return err
		}
		if err := n.Start(); err != nil {
			return err
		}
	}
	if err := c.StartHAProxy(); err != nil {
		return err
	}
	for _, statement := range []string{
		"CREATE ROLE " + databaseOwner + " LOGIN CREATEROLE PASSWORD '" + clusterPassword + "'",
		"CREATE DATABASE " + database + " OWNER " + databaseOwner,
	} {
		if err := c.retry(ctx, func(ctx context.Context) error { return c.exec(ctx, statement) }); err != nil {
			return err
		}
	}
	return nil
}

// retry repeats what fails while there is no primary.
func (c *PatroniCluster) retry(ctx context.Context, f func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := f(attempt)
		cancel()
		var exists interface{ SQLState() string }
		if err == nil || errors.As(err, &exists) && (exists.SQLState() == "42710" || exists.SQLState() == "42P04") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster has no primary: %w", err)
		case <-c.Nodes[0].Patroni.Exited:
			return fmt.Errorf("Patroni has ended:\n%s", c.Nodes[0].Patroni.Tail())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// exec runs a statement on the primary as the superuser.
func (c *PatroniCluster) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.url(superuser, superuser))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// URL returns the URL of the database as its owner, with the list of all servers.
func (c *PatroniCluster) URL() string { return c.url(databaseOwner, database) }

func (c *PatroniCluster) url(role, database string) string {
	hosts := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		hosts[i] = n.Host + ":5432"
	}
	return nodeURL(role, strings.Join(hosts, ","), database) + "&target_session_attrs=read-write"
}

// ProxyURL returns a URL of all servers as one through HAProxy.
func (c *PatroniCluster) ProxyURL(of string) (string, error) {
	u, err := url.Parse(of)
	if err != nil {
		return "", err
	}
	u.Host, u.RawQuery = c.host+":"+proxyPort, "sslmode=disable"
	return u.String(), nil
}

func nodeURL(role, hosts, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable&connect_timeout=2", role, clusterPassword, hosts, database)
}

// URL returns the URL of one server for its superuser.
func (n *PatroniNode) URL() string { return nodeURL(superuser, n.Host+":5432", superuser) }

// StartEtcd starts etcd, with what it had stored.
func (c *PatroniCluster) StartEtcd() (err error) {
	clients, peers := "http://"+c.host+":2379", "http://"+c.host+":2380"
	c.Etcd, err = Start(Command{Program: "etcd", Dir: c.dir, Args: []string{"--name", "store", "--data-dir", filepath.Join(c.dir, "etcd"),
		"--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers,
		"--initial-advertise-peer-urls", peers, "--initial-cluster", "store=" + peers, "--enable-v2", "--log-level", "warn"}})
	return err
}

// StartHAProxy starts HAProxy.
func (c *PatroniCluster) StartHAProxy() error {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy" // not on the PATH of users
	}
	env := []string{"LISTEN=" + c.host + ":" + proxyPort}
	for i, n := range c.Nodes {
		env = append(env, fmt.Sprintf("DB%d=%s", i+1, n.Host))
	}
	args := []string{"-db", "-f", filepath.Join(c.dir, "haproxy.cfg")}
	c.HAProxy, err = Start(Command{Program: program, Args: args, Env: env, Dir: c.dir})
	return err
}

// createNetworks gives each server a network interface, if this user may. Otherwise all of them have addresses of the loopback
// interface.
func (c *PatroniCluster) createNetworks(ctx context.Context) {
	id := os.Getpid() % 100_000
	prefix := fmt.Sprintf("198.18.%d.", id%250+1) // reserved for benchmarks of networks
	c.bridge, c.host = fmt.Sprintf("cw%d", id), prefix+"1"
	commands := [][]string{{"link", "add", c.bridge, "type", "bridge"}, {"addr", "add", c.host + "/24", "dev", c.bridge},
		{"link", "set", c.bridge, "up"}}
	for i, n := range c.Nodes {
		n.Host, n.namespace = fmt.Sprintf("%s%d", prefix, 11+i), fmt.Sprintf("%s-%s", c.bridge, n.Name)
		commands = append(commands, []string{"netns", "add", n.namespace},
			[]string{"link", "add", n.link(), "type", "veth", "peer", "name", "eth0", "netns", n.namespace},
			[]string{"link", "set", n.link(), "master", c.bridge, "up"},
			[]string{"-n", n.namespace, "addr", "add", n.Host + "/24", "dev", "eth0"},
			[]string{"-n", n.namespace, "link", "set", "eth0", "up"}, []string{"-n", n.namespace, "link", "set", "lo", "up"})
	}
	for _, args := range commands {
		_, err := MustSucceed(ctx, Command{Program: "ip", Args: args})
		if err == nil {
			continue
		}
		c.Limited = fmt.Sprintf("networks cannot be cut: %v", err)
		_ = c.removeNetworks()
		c.bridge, c.host = "", fmt.Sprintf("127.18.%d.1", id%250+1)
		for i, n := range c.Nodes {
			n.Host, n.namespace = fmt.Sprintf("127.18.%d.%d", id%250+1, 11+i), ""
		}
		return
	}
}

func (c *PatroniCluster) removeNetworks() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, n := range c.Nodes {
		_, failed := MustSucceed(ctx, Command{Program: "ip", Args: []string{"netns", "del", n.namespace}})
		err = errors.Join(err, failed)
	}
	_, failed := MustSucceed(ctx, Command{Program: "ip", Args: []string{"link", "del", c.bridge}})
	return errors.Join(err, failed)
}

// Close ends all processes, and removes networks and disks.
func (c *PatroniCluster) Close() (err error) {
	for _, n := range c.Nodes {
		if n.Patroni != nil {
			n.Kill()
		}
	}
	for _, p := range []*Process{c.HAProxy, c.Etcd} {
		if p != nil {
			p.Kill()
		}
	}
	if c.bridge == "" {
		return nil
	}
	for _, n := range c.Nodes {
		if failed := syscall.Unmount(n.Dir, syscall.MNT_DETACH); !errors.Is(failed, syscall.EINVAL) {
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, c.removeNetworks())
}

func (n *PatroniNode) createDisk() error {
	if err := os.MkdirAll(n.Dir, 0o755); err != nil { //nolint:gosec // the data are in a folder below
		return err
	}
	if n.cluster.bridge != "" {
		if err := syscall.Mount("tmpfs", n.Dir, "tmpfs", 0, "size="+nodeDiskSize+",mode=755"); err != nil {
			return fmt.Errorf("mount a small disk: %w", err)
		}
	}
	return giveToPostgres(n.Dir)
}

func (n *PatroniNode) link() string { return n.cluster.bridge + "-" + n.Name }

func (n *PatroniNode) data() string { return filepath.Join(n.Dir, "data") }

// Start starts Patroni, which starts Postgres, and returns at once.
func (n *PatroniNode) Start() error {
	postgres, err := postgresProgram("postgres")
	if err == nil {
		postgres, err = filepath.EvalSymlinks(postgres) // Patroni needs the folder of all programs
	}
	if err != nil {
		return err
	}
	as, err := postgresUser()
	if err != nil {
		return err
	}
	config := filepath.Join(n.cluster.dir, "patroni.yml")
	command := Command{Program: "/usr/bin/patroni", Args: []string{config}, Dir: "/", User: as, Env: []string{
		"LC_ALL=C.UTF-8", "TZ=UTC", "PATRONI_NAME=" + n.Name, "PATRONI_ETCD_HOSTS='" + n.cluster.host + ":2379'",
		"PATRONI_RESTAPI_LISTEN=" + n.Host + ":8008", "PATRONI_RESTAPI_CONNECT_ADDRESS=" + n.Host + ":8008",
		"PATRONI_POSTGRESQL_LISTEN=" + n.Host + ":5432", "PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + n.Host + ":5432",
		"PATRONI_POSTGRESQL_DATA_DIR=" + n.data(), "PATRONI_POSTGRESQL_BIN_DIR=" + filepath.Dir(postgres),
		"PATRONI_POSTGRESQL_PGPASS=" + filepath.Join(n.Dir, "pgpass"),
		"PATRONI_SUPERUSER_USERNAME=" + superuser, "PATRONI_SUPERUSER_PASSWORD=" + clusterPassword,
		"PATRONI_REPLICATION_USERNAME=replicator", "PATRONI_REPLICATION_PASSWORD=" + clusterPassword,
	}}
	if n.namespace != "" {
		// Only root may enter the namespace, and the signal for the end of this process is lost with the change of the user.
		command.Args = append([]string{"--net=/run/netns/" + n.namespace, "setpriv", "--reuid=" + strconv.Itoa(int(as.Uid)),
			"--regid=" + strconv.Itoa(int(as.Gid)), "--clear-groups", "--pdeathsig=TERM", command.Program}, command.Args...)
		command.Program, command.User = "nsenter", nil
	}
	n.Patroni, err = Start(command)
	return err
}

// PatroniLog returns what Patroni has logged since it was started, without what Postgres has and without its regular reports.
func (n *PatroniNode) PatroniLog() (lines []string) {
	for line := range strings.SplitSeq(n.Patroni.Output(), "\n") {
		if patroniLine.MatchString(line) && !patroniRoutine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

var (
	patroniLine = regexp.MustCompile(`^[0-9-]+ [0-9:]+,[0-9]+ [A-Z]+: `)
	// patroniRoutine has the errors of the REST API, because HAProxy ends its checks early.
	patroniRoutine = regexp.MustCompile(`INFO: (no action\.|Lock owner:)|WARNING: (Exception happened during processing of request|Traceback)`)
)

// Kill ends Patroni and Postgres at once, as the loss of the host.
func (n *PatroniNode) Kill() {
	n.Patroni.Signal(syscall.SIGSTOP) // it starts nothing again
	n.KillPostgres()
	n.Patroni.Kill()
}

// KillPostgres ends Postgres alone.
func (n *PatroniNode) KillPostgres() { n.signalPostgres(syscall.SIGKILL) }

// Freeze stops Patroni and Postgres, as a host that hangs.
func (n *PatroniNode) Freeze() {
	n.Patroni.Signal(syscall.SIGSTOP)
	n.signalPostgres(syscall.SIGSTOP)
}

// FreezePatroni stops Patroni alone: Postgres goes on without it.
func (n *PatroniNode) FreezePatroni() { n.Patroni.Signal(syscall.SIGSTOP) }

// Thaw ends Freeze and FreezePatroni.
func (n *PatroniNode) Thaw() {
	n.signalPostgres(syscall.SIGCONT)
	n.Patroni.Signal(syscall.SIGCONT)
}

func (n *PatroniNode) signalPostgres(s syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(n.data(), "postmaster.pid"))
	if err != nil {
		return // it does not run
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(first); err == nil && n.isPostgres(pid) {
		signalWithChildren(pid, s)
	}
}

// isPostgres reports whether a process is the server of the node. After a crash its id may be that of another process.
func (n *PatroniNode) isPostgres(pid int) bool {
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && slices.Contains(strings.Split(string(arguments), "\x00"), n.data())
}

// Cut lets no packet from or to the server through, until Mend.
func (n *PatroniNode) Cut(ctx context.Context) error { return n.setLink(ctx, "down") }

// Mend ends Cut.
func (n *PatroniNode) Mend(ctx context.Context) error { return n.setLink(ctx, "up") }

func (n *PatroniNode) setLink(ctx context.Context, state string) error {
	_, err := MustSucceed(ctx, Command{Program: "ip", Args: []string{"link", "set", n.link(), state}})
	return err
}
