package transaction

// eventNames returns the names of the events to emit for the change from a state to the current one.
func (t Transaction) eventNames(from State) []string {
	var names []string
	if t.State.Status != from.Status {
		names = append(names, string(t.Type)+"_PAYMENT."+string(t.State.Status))
	}
	if t.State.Refund != from.Refund {
		names = append(names, t.refundEvent())
	}
	return names
}

func (t Transaction) refundEvent() string {
	return string(t.Type) + "_PAYMENT.REFUND_" + string(t.RefundStatus())
}
