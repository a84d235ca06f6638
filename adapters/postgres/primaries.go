package postgres

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Two servers may accept writes for a while: a primary whose manager is stuck beside the standby that was promoted in its place, or
// a standby that somebody has promoted by mistake. A process uses one of them at a time, the one that it has used. It leaves that one
// if another is on a later timeline and replicates synchronously: then no commit of the former can be confirmed any more, as its
// standbys have left it. One that was promoted by mistake has nobody who has to confirm its commits, so nothing is written there.

// timelineInterval is how often each server is asked.
const timelineInterval = time.Second

var errNotPrimary = errors.New("another server of the URL is in use as the primary")

// isNotPrimary reports whether a server is left alone because another one is used.
func (h *databaseHosts) isNotPrimary(host *databaseHost) bool {
	primary := h.primary.Load()
	return primary != nil && primary != host
}

// replacePrimary makes a server the primary, unless the former one was replaced meanwhile, and closes all connections to others.
func (h *databaseHosts) replacePrimary(former, host *databaseHost) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.primary.CompareAndSwap(former, host) {
		return false
	}
	for _, other := range h.byAddress {
		if other != host {
			other.closeConns(errNotPrimary, func(*timedConn) bool { return true })
		}
	}
	return true
}

// dialPrimary opens a connection to a server, unless another one is the primary. That is asked again when the connection is known, because
// those that were known when the primary was replaced are closed already.
func (h *databaseHosts) dialPrimary(ctx context.Context, host *databaseHost, dialer net.Dialer, network, address string,
	maxSilence time.Duration) (net.Conn, error) {
	if h.isNotPrimary(host) {
		return nil, &connError{errNotPrimary}
	}
	conn, err := host.dial(ctx, dialer, network, address, maxSilence)
	if err == nil && h.isNotPrimary(host) {
		_ = conn.Close()
		return nil, &connError{errNotPrimary}
	}
	return conn, err
}

// writableHosts returns a configuration for each host of a URL with target_session_attrs and several hosts, and otherwise none.
func writableHosts(config *pgx.ConnConfig) (hosts []*pgx.ConnConfig) {
	if config.ValidateConnect == nil {
		return nil
	}
	byAddress := map[string]*pgx.ConnConfig{}
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	for _, f := range append([]*pgconn.FallbackConfig{first}, config.Fallbacks...) {
		_, address := pgconn.NetworkAddress(f.Host, f.Port)
		if one := byAddress[address]; one != nil { // another way to connect, as without encryption
			one.Fallbacks = append(one.Fallbacks, f)
			continue
		}
		one := config.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks, one.ValidateConnect = f.Host, f.Port, f.TLSConfig, nil, nil
		byAddress[address] = one
		hosts = append(hosts, one)
	}
	if len(hosts) < 2 {
		return nil
	}
	return hosts
}

// watchTimeline follows one server until ctx ends.
func (h *databaseHosts) watchTimeline(ctx context.Context, config *pgx.ConnConfig) {
	dialer := newDialer(config.ConnectTimeout)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return markedConn{conn, h.at(address)}, nil // not one of the connections that are given up
	}
	for pause(ctx, timelineInterval) == nil {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			continue
		}
		if dialled, err := dialledConn(conn.PgConn()); err == nil {
			for err == nil && pause(ctx, timelineInterval) == nil {
				err = h.readTimeline(ctx, conn, dialled.host)
			}
			dialled.host.timeline.Store(0)
		}
		closeNow(conn)
	}
}

// selectTimeline returns 0 for a standby, and whether a commit waits for a standby that is there. Without the rights of pg_read_all_stats a
// login sees the sessions that replicate, and not whether one is of a synchronous standby: then any counts.
const selectTimeline = `
	SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END,
		current_setting('synchronous_standby_names') <> '' AND
			EXISTS (SELECT FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))`

// readTimeline asks one server, and leaves the primary if that one has replaced it.
func (h *databaseHosts) readTimeline(ctx context.Context, conn *pgx.Conn, host *databaseHost) error {
	ctx, cancel := context.WithTimeout(ctx, answerTicks*answerTick)
	defer cancel()
	var timeline int64
	var synchronous bool
	if err := conn.QueryRow(ctx, selectTimeline, pgx.QueryExecModeSimpleProtocol).Scan(&timeline, &synchronous); err != nil {
		return err
	}
	host.timeline.Store(timeline)
	former := h.primary.Load()
	if former == nil || former == host || !synchronous || former.timeline.Load() == 0 || timeline <= former.timeline.Load() {
		return nil
	}
	h.replacePrimary(former, host)
	return nil
}
