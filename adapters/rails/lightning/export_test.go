package lightning

import "time"

// SetWaits sets how long calls wait for a node that has nothing to say.
func (r *Rail) SetWaits(pay, settled time.Duration) {
	c := r.node.(*lnd) //nolint:forcetypeassert // there is no other node
	c.payWait, c.settledWait = pay, settled
}
