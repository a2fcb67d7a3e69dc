// SPDX-License-Identifier: MIT
// node make_deployment.mjs URL PREFIX measured|oldest|newest [JOBS]
// Makes the deployment of deployment.mjs on that server, with so many further jobs.
import { client, connect } from './connect.mjs';
import { makeDeployment, queues } from './deployment.mjs';

const [url, prefix, which, many] = process.argv.slice(2);
const connection = connect(url);
await makeDeployment(await client(which), connection, prefix, Number(many ?? 0));
console.log(queues.join(' '));
await connection.quit();
