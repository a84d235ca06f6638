package payments

import (
	"context"

	"causeway/core/ident"
	"causeway/core/limit"
)

// limits returns what the operator of the service allows a platform to send. Call it before the unit of work that checks them.
func (s *Service) limits(ctx context.Context, p ident.Platform) (limit.Rules, error) {
	if err := s.Prices.Refresh(ctx, ident.Platform{}); err != nil {
		return nil, err
	}
	return s.Prices.LimitsOf(p), nil
}
