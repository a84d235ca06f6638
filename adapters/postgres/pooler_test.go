package postgres_test

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/ports/portstest"
)

func TestOpen_PoolerThatSharesSessionsIsRefused(t *testing.T) {
	t.Parallel()
	// A pooler that gives each transaction any session is refused with what is needed, whether it takes the session that was used last
	// or the one that has rested longest. One that keeps a session for each connection is used.
	for name, c := range map[string]struct {
		pooler  *pooler
		refused bool
	}{
		"transactions, the last session": {&pooler{}, true},
		"transactions, the next session": {&pooler{inTurn: true}, true},
		"sessions":                       {&pooler{keeps: true}, false},
	} {
		db, err := postgres.Open(t.Context(), postgres.Options{URL: c.pooler.start(t, pgtest.New(t)), MaxConnections: 1,
			Clock: portstest.NewFakeClock(noon)})
		if err == nil {
			err = db.Ping(t.Context())
			db.Close()
		}
		const advice = "set pool_mode = session for the service, or connect to Postgres directly"
		if c.refused && (err == nil || !strings.Contains(err.Error(), advice)) || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pooler is a server between clients and a database, which has three sessions.
type pooler struct {
	keeps  bool // a session for each client
	inTurn bool // takes the session that has rested longest, and otherwise the one that was used last

	mu   sync.Mutex
	idle []*pgconn.HijackedConn
}

// start returns the URL of the database through the pooler.
func (p *pooler) start(t *testing.T, database string) string {
	t.Helper()
	for range 3 {
		conn, err := pgconn.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		session, err := conn.Hijack()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Conn.Close() })
		p.idle = append(p.idle, session)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); clients.Wait() })
	clients.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			clients.Go(func() {
				defer client.Close()
				_ = p.serve(client) // its client has gone
			})
		}
	})
	through, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := through.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	through.Host, through.RawQuery = listener.Addr().String(), query.Encode()
	return through.String()
}

func (p *pooler) take() *pgconn.HijackedConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := len(p.idle) - 1
	if p.inTurn {
		at = 0
	}
	session := p.idle[at]
	p.idle = append(p.idle[:at:at], p.idle[at+1:]...)
	return session
}

func (p *pooler) put(session *pgconn.HijackedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, session)
}

func (p *pooler) serve(client net.Conn) error {
	to := pgproto3.NewBackend(client, client)
	if _, err := to.ReceiveStartupMessage(); err != nil {
		return err
	}
	to.Send(&pgproto3.AuthenticationOk{})
	to.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	to.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	to.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	to.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := to.Flush(); err != nil {
		return err
	}
	var session *pgconn.HijackedConn
	defer func() {
		if session != nil {
			p.put(session)
		}
	}()
	for {
		message, err := to.Receive()
		if err != nil {
			return err
		}
		if _, ends := message.(*pgproto3.Terminate); ends {
			return nil
		}
		if session == nil {
			session = p.take()
		}
		session.Frontend.Send(message)
		switch message.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
		default:
			continue
		}
		status, err := answer(session.Frontend, to)
		if err != nil {
			return err
		}
		if status == 'I' && !p.keeps {
			p.put(session)
			session = nil
		}
	}
}

// answer passes on what a session answers, and returns the status of its transaction.
func answer(session *pgproto3.Frontend, to *pgproto3.Backend) (status byte, err error) {
	if err := session.Flush(); err != nil {
		return 0, err
	}
	for {
		message, err := session.Receive()
		if err != nil {
			return 0, err
		}
		to.Send(message)
		if ready, ok := message.(*pgproto3.ReadyForQuery); ok {
			return ready.TxStatus, to.Flush()
		}
		if err := to.Flush(); err != nil { // before the message is overwritten
			return 0, err
		}
	}
}
