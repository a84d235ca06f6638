package lightning

import "time"

// SetWaits sets how long calls wait for a node that has nothing to say, and makes lists short.
func (r *Rail) SetWaits(pay, settled time.Duration) {
	switch c := r.node.(type) {
	case *lnd:
		c.payWait, c.settledWait = pay, settled
	case *phoenixd:
		c.payWait, c.recheck, c.page = pay, time.Millisecond, 3
	}
}

// PhoenixdReason is phoenixdReason.
var PhoenixdReason = phoenixdReason
