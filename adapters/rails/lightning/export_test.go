package lightning

import "time"

// SetWaits sets how long calls wait for LND that has nothing to say, and makes the lists of phoenixd short.
func (r *Rail) SetWaits(pay, settled time.Duration) {
	switch c := r.node.(type) {
	case *lnd:
		c.payWait, c.settledWait = pay, settled
	case *phoenixd:
		c.recheck, c.page = time.Millisecond, 3
	}
}

// PhoenixdReason is phoenixdReason.
var PhoenixdReason = phoenixdReason
