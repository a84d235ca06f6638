package kit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
)

// DatabaseProxy forwards the connections of a server to its database, and can fail as networks do.
type DatabaseProxy struct {
	listener         net.Listener
	network, address string // of the database
	url              url.URL

	mu     sync.Mutex
	open   chan struct{} // closed while traffic is forwarded
	fault  CommitFault   // of the next commit
	faults int
	conns  map[net.Conn]bool
	closed bool
	all    sync.WaitGroup
}

// CommitFault is what happens to the connection that sends a commit.
type CommitFault int

const (
	// NoFault forwards the commit and its result.
	NoFault CommitFault = iota
	// CutBeforeCommit ends the connection before the database gets the commit.
	CutBeforeCommit
	// CutAfterCommit ends the connection when the database has committed, without the result.
	CutAfterCommit
	// VanishBeforeCommit forwards nothing more from the commit on, and leaves the connection open, as
	// if one of the hosts had lost its power.
	VanishBeforeCommit
	// VanishAfterCommit forwards the commit and then nothing more.
	VanishAfterCommit
)

// NewDatabaseProxy starts a proxy for the database of a URL. Close it when it is no longer needed.
func NewDatabaseProxy(databaseURL string) (*DatabaseProxy, error) {
	target, err := url.Parse(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	p := &DatabaseProxy{network: "tcp", address: target.Host, url: *target, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	query := target.Query()
	if folder := query.Get("host"); strings.HasPrefix(folder, "/") {
		port := query.Get("port")
		if port == "" {
			port = "5432"
		}
		p.network, p.address = "unix", filepath.Join(folder, ".s.PGSQL."+port)
	} else if target.Port() == "" {
		p.address = net.JoinHostPort(target.Hostname(), "5432")
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("database proxy: %w", err)
	}
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable") // the proxy reads the traffic
	p.url.Host, p.url.RawQuery = p.listener.Addr().String(), strings.ReplaceAll(query.Encode(), "+", "%20")
	p.all.Go(p.accept)
	return p, nil
}

// URL returns the URL of the database through the proxy.
func (p *DatabaseProxy) URL() string { return p.url.String() }

// Silence stops to forward, in both directions and for new connections, and closes nothing: as a
// network that drops all packets.
func (p *DatabaseProxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Resume ends a silence. What was sent meanwhile is forwarded, as TCP would repeat it.
func (p *DatabaseProxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

// FailNextCommit makes one connection fail at its next commit.
func (p *DatabaseProxy) FailNextCommit(f CommitFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// CommitFaults returns how many commits have failed by FailNextCommit.
func (p *DatabaseProxy) CommitFaults() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}

// CloseConnections ends all connections.
func (p *DatabaseProxy) CloseConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// Close ends all connections and the proxy.
func (p *DatabaseProxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	select {
	case <-p.open:
	default:
		close(p.open)
	}
	p.mu.Unlock()
	p.CloseConnections()
	p.all.Wait()
}

func (p *DatabaseProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until either side ends it.
func (p *DatabaseProxy) serve(client net.Conn) {
	defer client.Close()
	if !p.track(client) {
		return
	}
	defer p.untrack(client)
	p.waitUntilOpen()
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.track(server) {
		return
	}
	defer p.untrack(server)
	link := &proxyLink{proxy: p, client: client, server: server, vanished: make(chan struct{})}
	var ways sync.WaitGroup
	ways.Go(func() {
		link.forward(client, server, commitStatement, []CommitFault{CutBeforeCommit, VanishBeforeCommit, VanishAfterCommit})
	})
	ways.Go(func() { link.forward(server, client, commitTag, []CommitFault{CutAfterCommit}) })
	ways.Wait()
}

func (p *DatabaseProxy) track(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[conn] = true
	}
	return !p.closed
}

func (p *DatabaseProxy) untrack(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

func (p *DatabaseProxy) waitUntilOpen() {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	<-open
}

// takeFault returns the fault of the next commit if it is one of the kinds, and clears it.
func (p *DatabaseProxy) takeFault(kinds []CommitFault) CommitFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range kinds {
		if p.fault == kind {
			p.fault = NoFault
			p.faults++
			return kind
		}
	}
	return NoFault
}

var (
	// commitStatement is the driver's name for the prepared statement COMMIT of a unit of work, as
	// it is when the statement is executed: it is followed by the number of its parameters.
	commitStatement = func() []byte {
		sum := sha256.Sum256([]byte("COMMIT"))
		return []byte(hex.EncodeToString(sum[:24]) + "\x00\x00\x00")
	}()
	// commitTag is what the database returns for a commit.
	commitTag = []byte("COMMIT\x00")
)

// proxyLink is one connection of a server with its connection to the database.
type proxyLink struct {
	proxy          *DatabaseProxy
	client, server net.Conn
	vanish         sync.Once
	vanished       chan struct{} // closed when nothing is to be forwarded any more
}

func (l *proxyLink) hasVanished() bool {
	select {
	case <-l.vanished:
		return true
	default:
		return false
	}
}

// forward copies one direction. It looks for the word, also across two reads, and applies the fault
// if one of these kinds is due.
func (l *proxyLink) forward(from, to net.Conn, word []byte, kinds []CommitFault) {
	defer func() {
		_ = from.Close()
		if !l.hasVanished() { // otherwise the other host does not learn of it
			_ = to.Close()
		}
	}()
	buffer := make([]byte, 64<<10)
	var tail []byte
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.proxy.waitUntilOpen()
		if l.hasVanished() {
			continue // drop it
		}
		found := bytes.Contains(append(tail, buffer[:n]...), word)
		tail = append([]byte(nil), buffer[max(0, n-len(word)+1):n]...)
		if found {
			switch l.proxy.takeFault(kinds) {
			case NoFault:
			case CutBeforeCommit, CutAfterCommit:
				return
			case VanishBeforeCommit:
				l.vanish.Do(func() { close(l.vanished) })
				continue
			case VanishAfterCommit:
				l.vanish.Do(func() { close(l.vanished) })
			}
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
