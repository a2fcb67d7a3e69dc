// SPDX-License-Identifier: MIT
import fence from './index.cjs';

export const { assertV1, V1FenceError } = fence;
